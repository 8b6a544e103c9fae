"""Flexbox on the device: styles and a tree in, boxes out."""
