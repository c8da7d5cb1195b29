"""The oracle of Geister: the rules said slowly, and tests of them against the golden numbers of docs/geister.md."""
