"""`python -m tests.requirements` writes the page."""

from tests.requirements.page import PAGE, text

PAGE.write_text(text())
