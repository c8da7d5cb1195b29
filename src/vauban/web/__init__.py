"""The page: a server that holds games, lets agents think, and sends each player what he may know and nothing else."""
