"""Answers of which the style is counted."""

from bayes_arena.reading.style import answer


def test_a_single_message_and_contents_of_texts_are_answers():
    message = {"role": "assistant", "content": "hello"}
    assert answer(message) == answer([message]) == "hello"
    parts = ["hel", {"type": "text", "text": "lo"}, {"type": "image"}]
    assert answer([{"role": "assistant", "content": parts}]) == "hello"
