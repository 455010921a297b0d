"""Store the bundled model's result for the first example, the picture of the very first start:
python -m tools.first_result

Run it after a change of the model, of the first line of `resources/examples.txt`, or of what a
result contains. A test compares the file with a computed result.
"""

import sys

from augenmerk.core.resources import example_sentences, resource_path
from augenmerk.core.translation.experiment import Experiment
from augenmerk.core.translation.translator import Translator
from augenmerk.viz_app.extensions.documents.last_result import (
    FIRST_RESULT,
    key_of_content,
    write_last_result,
)
from augenmerk.viz_app.worker.jobs import describe


def main() -> int:
    """Translate the first example and write the file. The exit status is 0."""
    translator = Translator.load(None, "cpu")
    result = translator.compare(Experiment(example_sentences()[0]))
    write_last_result(resource_path(FIRST_RESULT), result, describe(translator), key_of_content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
