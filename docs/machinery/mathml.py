"""Formulas as MathML, by docutils: browsers draw it without a script, and screen readers read it."""

from docutils.utils.math.latex2mathml import tex2mathml


def setup(app):
    """Add the renderer that ``html_math_renderer`` names."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))


def inline(writer, node):
    """Draw a formula in a line."""
    from docutils.nodes import SkipNode

    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise SkipNode


def block(writer, node):
    """Draw a formula that stands alone."""
    from docutils.nodes import SkipNode

    writer.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>\n')
    raise SkipNode
