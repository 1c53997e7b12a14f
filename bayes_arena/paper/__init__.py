"""The experiments of the am-ELO paper."""
