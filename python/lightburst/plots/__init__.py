"""Figures: for print by matplotlib, for the page by Altair, in one style."""
