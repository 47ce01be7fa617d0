"""Small things that every room uses: errors and files."""
