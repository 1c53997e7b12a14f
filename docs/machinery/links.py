"""Where the names in docstrings lead: to the page of a public name; names inside the package stand as text."""

import pkgutil

from sphinx.util.nodes import make_refnode


def resolve(app, env, node, content):
    """Link a public name under whatever name it is written; what does not exist stays an error."""
    if node.get("refdomain") != "py":
        return None
    target, objects = node["reftarget"], env.domaindata["py"]["objects"]
    name = target.rsplit(".", 1)[-1]
    for found in (f"bayes_arena.{name}", f"bayes_arena.models.{name}"):
        if found in objects:
            return make_refnode(app.builder, node["refdoc"], objects[found].docname, found, content, found)
    return content if target.startswith("bayes_arena.") and exists(target) else None


def exists(target: str) -> bool:
    """Return whether the package has such a module or name."""
    try:
        pkgutil.resolve_name(target)
    except (ImportError, AttributeError):
        return False
    return True
