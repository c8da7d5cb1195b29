"""The page: a server that holds games, lets agents think, and sends each player only what that player may know."""
