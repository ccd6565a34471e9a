"""Runs held against each other: is the difference more than they differ among themselves?"""
