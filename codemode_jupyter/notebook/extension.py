"""``%load_ext codemode_jupyter``: what the extension changes in a shell, and taking it back.

Owns: the order of loading and unloading. Never does: the work of a part; each is a module beside this one, imported
when it is first used, so that loading costs next to nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from codemode_jupyter.notebook.environment import NotebookEnvironment
from codemode_jupyter.notebook.inbox import Inbox
from codemode_jupyter.notebook.magics import CodemodeMagics
from codemode_jupyter.notebook.transform import MAGIC_NAME, AwaitedCell, AwaitedMagics
from codemode_jupyter.runtime.environment import install_environment

OUTCOME_TYPE = ("codemode_jupyter.runtime.records", "Outcome")
"""Module and name, for a formatter that does not import it."""


class Extension:
    """The extension in one shell."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self._undo: list[Callable[[], None]] = []

    def load(self) -> None:
        """Change the shell."""
        shell = self.shell
        self._add(shell.input_transformer_manager.cleanup_transforms, AwaitedCell(shell), at=0)
        self._add(shell.input_transformers_post, AwaitedMagics(shell))
        magics = CodemodeMagics(shell)
        magics.register()
        self._undo += [magics.close, self._forget_magics]
        self._show_outcomes()
        environment = NotebookEnvironment(shell)
        install_environment(environment)
        self._undo += [lambda: install_environment(None), environment.close]
        self._show_arrivals(magics, environment.inbox)
        if getattr(shell, "kernel", None) is not None:
            self._when_loop_runs(lambda: self._meet_kernel(environment))

    def unload(self) -> None:
        """Take everything back, in reverse order."""
        while self._undo:
            self._undo.pop()()

    def _add(self, transformers: list[Any], transformer: Any, *, at: int | None = None) -> None:
        transformers.insert(len(transformers) if at is None else at, transformer)
        self._undo.append(lambda: transformers.remove(transformer) if transformer in transformers else None)

    def _forget_magics(self) -> None:
        for kind in ("cell", "line"):
            self.shell.magics_manager.magics[kind].pop(MAGIC_NAME, None)

    def _show_outcomes(self) -> None:
        """Have outcomes shown as cards. The cards are imported when the first outcome is shown."""
        formatter = self.shell.display_formatter.ipython_display_formatter

        def first_outcome(outcome: Any) -> Any:
            from codemode_jupyter.notebook.card import register_formatters  # noqa: PLC0415  imports widgets

            register_formatters(self.shell)  # takes the place of this function
            return formatter(outcome)

        formatter.for_type_by_name(*OUTCOME_TYPE, first_outcome)
        self._undo.append(lambda: formatter.pop(".".join(OUTCOME_TYPE), None))

    def _show_arrivals(self, magics: CodemodeMagics, inbox: Inbox) -> None:
        """Have each cell say below it what arrived in the inbox since the last one."""

        def after_cell(*_: Any) -> None:
            magics.show_arrivals(inbox)

        events = self.shell.events
        events.register("post_run_cell", after_cell)
        self._undo.append(lambda: events.unregister("post_run_cell", after_cell))

    def _meet_kernel(self, environment: NotebookEnvironment) -> None:
        """Let comm messages through, and make the page ready once the current cell has ended."""
        from codemode_jupyter.notebook import kernel_shim  # noqa: PLC0415  only in a kernel

        shim = kernel_shim.install(self.shell.kernel)
        if shim is not None:
            self._undo.append(shim.uninstall)
        preparing = asyncio.get_running_loop().call_soon(environment.prepare)
        self._undo.append(preparing.cancel)

    def _when_loop_runs(self, start: Callable[[], None]) -> None:
        """Call ``start`` now, or (when loaded by a configuration file, before the kernel starts) at the first cell."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            start()
            return
        events = self.shell.events

        def first_cell(*_: Any) -> None:
            events.unregister("pre_run_cell", first_cell)
            start()

        def forget() -> None:
            if first_cell in events.callbacks["pre_run_cell"]:
                events.unregister("pre_run_cell", first_cell)

        events.register("pre_run_cell", first_cell)
        self._undo.append(forget)


_loaded: Extension | None = None


def load_ipython_extension(shell: Any) -> None:
    """Load the extension into ``shell``; loading it twice is loading it once."""
    global _loaded  # noqa: PLW0603  one process has one shell that hosts runtimes
    if _loaded is not None:
        if _loaded.shell is shell:
            return
        _loaded.unload()
    extension = Extension(shell)
    try:
        extension.load()
    except BaseException:
        extension.unload()
        raise
    _loaded = extension


def unload_ipython_extension(shell: Any) -> None:
    """Take the extension out of ``shell``. Runtimes that exist go on to exist."""
    global _loaded  # noqa: PLW0603  see above
    if _loaded is not None and _loaded.shell is shell:
        _loaded.unload()
        _loaded = None
