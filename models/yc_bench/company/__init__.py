"""What a company is: its clock, its books, the people and tasks it has, and the work on them."""
