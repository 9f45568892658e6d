"""What is installed and what hardware is there, against the lock: what is wrong first, with what mends it."""
