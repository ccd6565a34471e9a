"""Runs of many releases in a row: where did a figure change, by how much, and for certain?"""
