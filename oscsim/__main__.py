"""``python -m oscsim``, which is also what ``torchrun -m oscsim`` starts."""

from oscsim.cli.commands import main

if __name__ == "__main__":
    main()
