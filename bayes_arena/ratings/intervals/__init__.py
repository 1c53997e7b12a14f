"""Intervals: one summary, several ways to find the two bounds.

=========  ====================================
summary    which interval a table shows
profile    where the profile likelihood falls
robust     sandwich and clustered variances
bootstrap  fits to votes drawn with replacement
=========  ====================================
"""
