"""``llms.txt``: what the documentation has, for programs that read it; https://llmstxt.org says how it looks."""

from pathlib import Path

PITCH = (
    "Rate language models from pairwise votes, and see what the votes can and cannot tell: Elo scores with intervals, "
    "ranks that are still open, annotators whose votes say little."
)


def write(app, failure):
    """Write an index of all pages, by the chapters of the front page, each with its first sentence."""
    if failure is not None or app.builder.format != "html":
        return
    lines = ["# bayes_arena", "", f"> {PITCH}", ""]
    for chapter in app.env.toctree_includes["index"]:
        pages = [chapter, *app.env.toctree_includes.get(chapter, [])]
        lines += [f"## {title(app, chapter)}", ""]
        lines += [f"- [{title(app, page)}]({page}.html): {first_sentence(app, page)}" for page in pages]
        lines += [""]
    Path(app.outdir, "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def title(app, page: str) -> str:
    """Return the title of a page."""
    return app.env.titles[page].astext()


def first_sentence(app, page: str) -> str:
    """Return how the first paragraph of a page begins."""
    from docutils.nodes import paragraph

    found = next(iter(app.env.get_doctree(page).findall(paragraph)), None)
    text = "" if found is None else " ".join(found.astext().split())
    end = text.find(". ")
    return text if end < 0 else text[: end + 1]
