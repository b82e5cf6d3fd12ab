"""Short programs print what PyTorch 1.13.1 printed (2.7.1 for torch.export), numbers to within rounding (answers/)."""

import answers
import pytest
import recorded

CASES = [
    pytest.param(title, program, answer, id=f"{path.stem}: {title}")
    for path in sorted(answers.FOLDER.glob("*.txt"))
    for title, program, answer in answers.sections(path.stem)
]


@pytest.mark.parametrize("title, program, answer", CASES)
def test_same_as_pytorch(title, program, answer, tmp_path):
    printed = answers.run("torchjit", program, title, tmp_path)
    recorded.check(answer, printed)
