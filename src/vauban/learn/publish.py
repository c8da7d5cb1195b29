"""A model put on the Hugging Face hub: its weights, its card, and its page, whose commands name it there."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from vauban.errors import ConfigurationError
from vauban.files import write_whole
from vauban.learn.card import make_model
from vauban.learn.readme import README, readme_text
from vauban.learn.run import CONFIG
from vauban.nets.hub import LARGEST_TEXT, check_stranger, is_address, library, refused, split_address
from vauban.nets.store import SETUPS, ModelError, load_model, read_card, weights_file, with_place, write_card


def publish(named: str, address: str, private: bool = False) -> str:
    """Put a model, or the model of a run, on the hub; the address of its page.

    A repository is made where there is none; one that is there gets another revision.
    """
    if not is_address(address):
        raise ConfigurationError(
            f"{address!r}: a model is published at hf:OWNER/NAME; for a folder that any web server can offer, make it "
            "there (vauban models card RUN --name NAME --out FOLDER)"
        )
    repo, revision = split_address(address)
    if "@" in address:
        raise ConfigurationError(f"{address!r}: the hub numbers revisions itself, so leave @{revision} out")
    api = library().HfApi()
    with TemporaryDirectory() as aside:
        folder = Path(aside) / repo.partition("/")[2]
        gather(named, address, folder)
        with refused(address):
            page = api.create_repo(repo, private=private, exist_ok=True)
            api.upload_folder(
                repo_id=repo, folder_path=folder, commit_message=f"Model {read_card(folder)['name']} of Vauban"
            )
    return str(page)


def gather(named: str, address: str, folder: Path) -> None:
    """Write the files of a model as they stand at an address: what belongs to it, and nothing else of its folder."""
    if (Path(named) / CONFIG).is_file():
        make_model(Path(named), folder, folder.name, where=address)
    else:
        model = load_model(named)
        folder.mkdir()
        for part in model.networks:
            shutil.copyfile(weights_file(model.folder, part), weights_file(folder, part))
        if model.setups is not None:
            if model.setups.stat().st_size > LARGEST_TEXT:
                raise ModelError(f"{model.setups}: a list of setups of more than {LARGEST_TEXT:,} bytes is not fetched")
            shutil.copyfile(model.setups, folder / SETUPS)
        write_card(folder, with_place(model.card, address))
        write_whole(folder / README, readme_text(model.card, address))
    check_stranger(read_card(folder), named)
