"""The server of sealed sessions: offers, journals, episodes at play, entries made of them."""
