"""What `make demo` shows on the screen while it installs the packages and runs the workflow."""
