"""Linear algebra of the Hessian.

=============  =====================================================================
features_pass  gradient and Hessian over many votes with features, compiled
=============  =====================================================================
"""
