"""What commands the speed of the jobs under a feeder: one policy a file, all without a rate or a clock to read."""
