"""The schema of the store, as numbered migrations.

Owns: every statement that ever shaped the file. A released migration is never changed; a new one is added at the end.
Never does: open the file.
"""

from __future__ import annotations

APPLICATION_ID = 0x434D4A59
"""``PRAGMA application_id`` of a store: the letters "CMJY". Tells a store from any other SQLite file."""

_FIRST = (
    """
    CREATE TABLE execution (
        id TEXT PRIMARY KEY,
        runtime TEXT NOT NULL,
        code TEXT NOT NULL,
        source TEXT NOT NULL,
        line_offset INTEGER NOT NULL,
        language TEXT NOT NULL,
        status TEXT NOT NULL,
        connectors TEXT NOT NULL,
        clock REAL NOT NULL,
        seed TEXT NOT NULL,
        timeout REAL NOT NULL,
        passes INTEGER NOT NULL DEFAULT 0,
        result TEXT,
        result_note TEXT,
        error TEXT,
        logs TEXT,
        running_time REAL NOT NULL DEFAULT 0,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        owner TEXT,
        heartbeat REAL
    )
    """,
    "CREATE INDEX execution_by_status ON execution (runtime, status, id)",
    "CREATE INDEX execution_by_id ON execution (runtime, id)",
    """
    CREATE TABLE call (
        execution TEXT NOT NULL REFERENCES execution (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL,
        connector TEXT NOT NULL,
        method TEXT NOT NULL,
        arguments TEXT NOT NULL,
        bound TEXT,
        state TEXT NOT NULL,
        requires_approval INTEGER NOT NULL,
        ephemeral INTEGER NOT NULL,
        can_revert INTEGER NOT NULL,
        digest TEXT NOT NULL,
        outcome TEXT,
        code TEXT,
        token TEXT,
        late INTEGER NOT NULL DEFAULT 0,
        started_at REAL,
        ended_at REAL,
        decided_at REAL,
        UNIQUE (execution, seq)
    )
    """,
    "CREATE INDEX call_by_state ON call (execution, state)",
    """
    CREATE TABLE event (
        execution TEXT NOT NULL REFERENCES execution (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        kind TEXT NOT NULL,
        id INTEGER NOT NULL,
        clock REAL NOT NULL,
        PRIMARY KEY (execution, position)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE snippet (
        runtime TEXT NOT NULL,
        name TEXT NOT NULL,
        description TEXT NOT NULL,
        code TEXT NOT NULL,
        language TEXT NOT NULL,
        connectors TEXT NOT NULL,
        saved_at REAL NOT NULL,
        PRIMARY KEY (runtime, name)
    )
    """,
)

_MODULES = (
    # SHA-256 by name of the modules that a program could import, as a JSON object.
    "ALTER TABLE execution ADD COLUMN modules TEXT NOT NULL DEFAULT '{}'",
)

_JOURNAL = (
    # What a tool did and asked within one call. ``subject``: a step's name, or a question's payload as tagged text.
    """
    CREATE TABLE journal (
        execution TEXT NOT NULL REFERENCES execution (id) ON DELETE CASCADE,
        call INTEGER NOT NULL,
        number INTEGER NOT NULL,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        schema TEXT,
        digest TEXT NOT NULL,
        state TEXT NOT NULL,
        outcome TEXT,
        asked_at REAL NOT NULL,
        ended_at REAL,
        PRIMARY KEY (execution, call, number)
    ) WITHOUT ROWID
    """,
    # What ``on_wait`` has been told of.
    """
    CREATE TABLE announced (
        execution TEXT NOT NULL REFERENCES execution (id) ON DELETE CASCADE,
        wait TEXT NOT NULL,
        PRIMARY KEY (execution, wait)
    ) WITHOUT ROWID
    """,
)

_DETACHED = (
    # Whether an execution is to be detached when it waits, since when it is, and what its hook is told of it (JSON).
    "ALTER TABLE execution ADD COLUMN detachable INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE execution ADD COLUMN detached_at REAL",
    "ALTER TABLE execution ADD COLUMN metadata TEXT",
    # The ends of detached executions that are still to be delivered. Nothing refers to an execution: it may be deleted.
    """
    CREATE TABLE exit (
        id TEXT PRIMARY KEY,
        runtime TEXT NOT NULL,
        execution TEXT NOT NULL,
        status TEXT NOT NULL,
        result TEXT,
        result_note TEXT,
        error TEXT,
        metadata TEXT,
        logs TEXT,
        created_at REAL NOT NULL,
        detached_at REAL NOT NULL,
        ended_at REAL NOT NULL,
        failures INTEGER NOT NULL DEFAULT 0,
        owner TEXT
    )
    """,
    "CREATE INDEX exit_by_end ON exit (runtime, ended_at)",
    # Triggers: it is in the transaction of the wait or of the end, whichever way an execution gets there.
    """
    CREATE TRIGGER detached_when_paused AFTER UPDATE OF status ON execution
    WHEN NEW.status = 'paused' AND NEW.detachable AND NEW.detached_at IS NULL
    BEGIN
        UPDATE execution SET detached_at = NEW.updated_at WHERE id = NEW.id;
    END
    """,
    """
    CREATE TRIGGER exit_of_ended AFTER UPDATE OF status ON execution
    WHEN NEW.detached_at IS NOT NULL
        AND OLD.status IN ('running', 'paused') AND NEW.status NOT IN ('running', 'paused')
    BEGIN
        INSERT INTO exit (id, runtime, execution, status, result, result_note, error, metadata, logs,
            created_at, detached_at, ended_at)
        VALUES ('exit_' || lower(hex(randomblob(16))), NEW.runtime, NEW.id, NEW.status, NEW.result, NEW.result_note,
            NEW.error, NEW.metadata, NEW.logs, NEW.created_at, NEW.detached_at, NEW.updated_at);
    END
    """,
    """
    CREATE TRIGGER exit_of_deleted AFTER DELETE ON execution
    WHEN OLD.detached_at IS NOT NULL AND OLD.status IN ('running', 'paused')
    BEGIN
        INSERT INTO exit (id, runtime, execution, status, error, metadata, logs, created_at, detached_at, ended_at)
        VALUES ('exit_' || lower(hex(randomblob(16))), OLD.runtime, OLD.id, 'error',
            '{"code": "deleted", "message": "The execution was deleted before it had ended."}',
            OLD.metadata, OLD.logs, OLD.created_at, OLD.detached_at, (julianday('now') - 2440587.5) * 86400.0);
    END
    """,
)

_PACKAGES = (
    # The packages that Python programs could import, as JSON; NULL until the execution first needs Python.
    "ALTER TABLE execution ADD COLUMN packages TEXT",
    "UPDATE execution SET packages = '[]'",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _MODULES, _JOURNAL, _DETACHED, _PACKAGES)
"""``MIGRATIONS[n]`` brings a store from schema ``n`` to schema ``n + 1``."""

SCHEMA_VERSION = len(MIGRATIONS)
"""The schema this code reads and writes, kept in ``PRAGMA user_version``."""
