"""The records of a report. Made from docs/report.schema.json by tools/python_types.py; do not edit.

Each record is the dictionary that the program prints. Its fields are also attributes, which are None if unknown.
"""

from typing import Dict, List, Literal, Optional, Union

from ._record import Record


class Tool(Record):
    __slots__ = ()
    version: str
    rules: str
    # The rule files in use in addition to the built-in rules; absent if there are none.
    rule_files: Optional[List[str]]


class Job(Record):
    """The job that whyoom run started."""

    __slots__ = ()
    # 128 plus the signal number if a signal ended it.
    exit_status: int


class Scenario(Record):
    __slots__ = ()
    id: str
    title: str
    why: Optional[str]


class Contradiction(Record):
    """Figures in the log that contradict each other; they are not used."""

    __slots__ = ()
    id: str
    text: str
    line: Optional[int]
    # The contradictory figures; they are not among the facts.
    figures: Dict[str, Union[int, float, str, bool]]


class SurvivalSign(Record):
    __slots__ = ()
    text: str
    line: int


class Where(Record):
    __slots__ = ()
    path: str
    # The name inside the archive.
    member: Optional[str]
    line: int
    last_line: int
    # Bytes from the start of the input.
    offset: int


class Reason(Record):
    __slots__ = ()
    text: str
    line: Optional[int]
    # Id of a typical mistake in the program, which the text names.
    mistake: Optional[str]
    # The remedy that undoes the mistake.
    cure: Optional[str]


class SourceLine(Record):
    """A line of the user's sources, as it is now."""

    __slots__ = ()
    file: str
    line: int
    text: str


class Allocation(Record):
    __slots__ = ()
    rank: int
    size_bytes: Optional[int]
    unpadded_bytes: Optional[int]
    padding_bytes: Optional[int]
    padding_factor: Optional[float]
    shape: Optional[str]
    layout: Optional[str]
    dtype: Optional[str]
    op_name: Optional[str]
    source_file: Optional[str]
    source_line: Optional[int]
    xla_label: Optional[str]
    kind: Optional[str]
    tag: Optional[str]
    line: Optional[int]


class ModuleShare(Record):
    __slots__ = ()
    module: str
    bytes: int


class MemoryPart(Record):
    __slots__ = ()
    _records = {"by": ModuleShare}
    kind: Literal[
        "weights",
        "gathered_weights",
        "optimizer_state",
        "gradients",
        "activations",
        "logits",
        "attention_scores",
        "temporaries",
        "padding",
        "inputs",
        "outputs",
        "constants",
        "fragmentation",
        "unknown",
    ]
    bytes: int
    # By the user's modules, largest first; may be incomplete.
    by: Optional[List[ModuleShare]]


class Moment(Record):
    __slots__ = ()
    # Position in the schedule: 0 is the start, 1 is the end.
    at: float
    bytes: int


class LiveArray(Record):
    __slots__ = ()
    # Its shape and the user's line.
    array: str
    bytes: int
    padding_bytes: Optional[int]
    # The position at which it begins to be live, like at of a moment.
    begin: float
    # The position at which it ends.
    end: float


class Axis(Record):
    """A dimension of an argument."""

    __slots__ = ()
    # The argument's name in the user's program.
    array: str
    # Counted from 0.
    number: int
    # The length over all devices, before sharding.
    length: int
    # The meaning of the dimension, if known: batch, sequence, vocabulary.
    name: Optional[str]


class Room(Record):
    """The sizes that would fit, over all devices; only with an XLA dump. A size that is unknown or cannot fit is
    absent.
    """

    __slots__ = ()
    _records = {"batch_axis": Axis, "sequence_axis": Axis}
    batch: Optional[int]
    largest_batch: Optional[int]
    # The number that the remedy uses: at most 4 if that fits, else the fewest that fit.
    micro_batches: Optional[int]
    sequence: Optional[int]
    largest_sequence: Optional[int]
    # Devices that the batch is split over; absent if there is only one.
    batch_devices: Optional[int]
    # The dimension that batch and largest_batch measure.
    batch_axis: Optional[Axis]
    # The dimension that sequence and largest_sequence measure.
    sequence_axis: Optional[Axis]


class Attempt(Record):
    """A remedy, or several joined by +, made on the program and compiled."""

    __slots__ = ()
    remedy: str
    # What to type.
    setting: str
    # The memory that the program then needs; absent: see problem.
    need_bytes: Optional[int]
    problem: Optional[str]
    seconds: float


class Recompilation(Record):
    """The program compiled again, unchanged and with remedies."""

    __slots__ = ()
    _records = {"attempts": Attempt}
    module: str
    compiler: str
    # The memory that the unchanged program needs.
    unchanged_bytes: int
    seconds: float
    attempts: List[Attempt]
    # Why not all attempts were made: interrupted, or out of time.
    stopped: Optional[str]


class Compiled(Record):
    __slots__ = ()
    compiler: str
    # What to type.
    setting: str
    seconds: float


class Link(Record):
    __slots__ = ()
    title: str
    url: str


class RankReasons(Record):
    """Why the remedy has this rank."""

    __slots__ = ()
    # It can determine the scenario, which must be known first; true ranks higher.
    finds_out: bool
    # The log has evidence for it, or an estimate shows that it is enough, alone or with another; true ranks higher.
    supported: bool


class Remedy(Record):
    __slots__ = ()
    _records = {"compiled": Compiled, "axis": Axis, "why": Reason, "links": Link, "rank_reasons": RankReasons}
    rank: int
    id: str
    title: str
    section: Optional[str]
    safety: Literal["safe", "safe_slower", "risky", "changes_training"]
    safety_why: Optional[str]
    gain: str
    # Estimated reduction of the whole program's need.
    saves_bytes: Optional[int]
    # The need with the remedy, to compare with limit_bytes; absent if the whole need is unknown.
    left_bytes: Optional[int]
    # The error of left_bytes, in either direction.
    spread_bytes: Optional[int]
    # The source of the estimate.
    basis: Optional[Literal["program", "list", "compiled"]]
    # The compile that confirms it, if the basis is compiled.
    compiled: Optional[Compiled]
    # A unified diff against the user's files that makes this change.
    patch: Optional[str]
    # The need that the patched program had.
    verified_bytes: Optional[int]
    # The number of devices, steps or pieces that the estimate assumes.
    parts: Optional[int]
    # The dimension that is divided into parts.
    axis: Optional[Axis]
    # The remedy may save more: saves_bytes covers only the list, which is under half of the need.
    at_least: Optional[bool]
    # Whether this remedy alone is estimated to cover the excess.
    enough: Optional[bool]
    # enough may be wrong: the excess is within spread_bytes, or the need may be higher.
    borderline: Optional[bool]
    # Ids of remedies; with one of them, this remedy is enough.
    enough_with: Optional[List[str]]
    # It costs nothing and is not enough alone; reports list such remedies separately.
    free: Optional[bool]
    note: Optional[str]
    why: List[Reason]
    how: List[str]
    links: List[Link]
    # Absent in reports of older versions.
    rank_reasons: Optional[RankReasons]


class RuledOut(Record):
    __slots__ = ()
    id: str
    title: str
    why: str


class Diagnosis(Record):
    __slots__ = ()
    _records = {
        "scenario": Scenario,
        "scenario_candidates": Scenario,
        "contradictions": Contradiction,
        "recovered": SurvivalSign,
        "where": Where,
        "also": Where,
        "why": Reason,
        "source_lines": SourceLine,
        "allocations": Allocation,
        "memory": MemoryPart,
        "timeline": Moment,
        "live": LiveArray,
        "room": Room,
        "recompilation": Recompilation,
        "remedies": Remedy,
        "ruled_out": RuledOut,
        "links": Link,
    }
    # Identifies the failure; independent of host, time and log prefix.
    id: str
    code: str
    aliases: Optional[List[str]]
    title: str
    category: str
    scenario: Optional[Scenario]
    # The possible scenarios, if it is unknown which one applies.
    scenario_candidates: Optional[List[Scenario]]
    confidence: Literal["low", "medium", "high"]
    # Present if the log contradicts itself; confidence is then low.
    contradictions: Optional[List[Contradiction]]
    # Whether the unchanged job can succeed if it is started again. never: it will fail the same way; maybe: it can
    # succeed.
    retry: Literal["never", "maybe", "unknown"]
    # The reason, as a sentence.
    retry_why: Optional[str]
    # A later line of the log that shows that the job went on after the failure.
    recovered: Optional[SurvivalSign]
    message: str
    where: Where
    # Other places that report it: the first hundred by path, member and offset.
    also: Optional[List[Where]]
    # The number of distinct hosts, ranks or processes that reported it.
    occurrences: int
    # There are more hosts than listed; occurrences is accurate to about 3 %.
    occurrences_estimated: Optional[bool]
    # The number of inputs that report it, if more than one.
    artifacts: Optional[int]
    first_time: Optional[str]
    last_time: Optional[str]
    hosts: List[str]
    framework: Optional[str]
    facts: Dict[str, Union[int, float, str, bool]]
    why: List[Reason]
    # Lines that the diagnosis names; only with --source-root or `whyoom run`.
    source_lines: Optional[List[SourceLine]]
    allocations: List[Allocation]
    allocations_left_out: Optional[int]
    # Memory at the peak by kind, largest first; sums to the need. Only with an XLA dump.
    memory: Optional[List[MemoryPart]]
    # Live memory over the program's schedule, without fragmentation: at most 64 moments, each with the maximum of one
    # section of the schedule. Only with an XLA dump.
    timeline: Optional[List[Moment]]
    # The 64 largest temporaries, largest first.
    live: Optional[List[LiveArray]]
    room: Optional[Room]
    # The compiles of `whyoom try`.
    recompilation: Optional[Recompilation]
    remedies: List[Remedy]
    ruled_out: Optional[List[RuledOut]]
    # The command to type next.
    next: str
    links: List[Link]


class Program(Record):
    """A program that compiled, and the memory that it needs according to its XLA dump or a log."""

    __slots__ = ()
    _records = {
        "where": Where,
        "allocations": Allocation,
        "memory": MemoryPart,
        "timeline": Moment,
        "live": LiveArray,
        "room": Room,
    }
    # Identifies the program by its memory needs.
    id: str
    # The source: its XLA dump, or a line of a log.
    basis: Literal["dump", "log"]
    module: Optional[str]
    # The dump's buffer assignment file, or the line of the log.
    where: Where
    # The number of dumps or lines that report the same.
    occurrences: int
    # need_bytes; if known, limit_bytes, chip, arguments_bytes, output_bytes, shared_output_bytes, hlo_temp_bytes, …
    facts: Dict[str, Union[int, float, str, bool]]
    # The largest allocations that are live at the peak.
    allocations: List[Allocation]
    # Memory at the peak by kind, largest first; sums to the need. Only with an XLA dump.
    memory: Optional[List[MemoryPart]]
    # Live memory over the program's schedule, without fragmentation: at most 64 moments, each with the maximum of one
    # section of the schedule. Only with an XLA dump.
    timeline: Optional[List[Moment]]
    # The 64 largest temporaries, largest first.
    live: Optional[List[LiveArray]]
    room: Optional[Room]


class Share(Record):
    __slots__ = ()
    diagnoses: int
    occurrences: int


class Summary(Record):
    __slots__ = ()
    _tables = {"by_scenario": Share, "by_remedy": Share}
    artifacts: int
    bytes: int
    # The number of different failures.
    diagnoses: int
    occurrences: int
    # The number of different failures by code.
    by_code: Dict[str, int]
    by_scenario: Dict[str, Share]
    # By the first remedy.
    by_remedy: Dict[str, Share]
    first_time: Optional[str]
    last_time: Optional[str]
    problem_count: int


class Problem(Record):
    __slots__ = ()
    path: str
    member: Optional[str]
    what: str
    # unknown_error: a line reports a memory error that matches no rule; note: a remark on an input that was read
    # completely. Absent: an input was not read completely, or a limit was reached.
    kind: Optional[str]
    # The first line of an unknown error or of what a note is about; absent if the entry only counts further errors.
    line: Optional[int]
    # The text of the line; shortened if it is long.
    text: Optional[str]
    # How often the line was printed; numbers may differ.
    occurrences: Optional[int]


class ReportSummary(Summary):
    __slots__ = ()
    _records = {**Summary._records, "problems": Problem}
    problems: List[Problem]
    # The number of failures that --ignore hides, at most 5000.
    ignored: Optional[int]


class ReportFields(Record):
    __slots__ = ()
    _records = {"tool": Tool, "run": Job, "diagnoses": Diagnosis, "programs": Program, "summary": ReportSummary}
    schema: Literal["whyoom.report/1"]
    tool: Tool
    # Absent unless whyoom run wrote the report.
    run: Optional[Job]
    diagnoses: List[Diagnosis]
    # The programs that need most, at most a hundred; absent if there are none.
    programs: Optional[List[Program]]
    programs_left_out: Optional[int]
    summary: ReportSummary


__all__ = [
    "Tool",
    "Job",
    "Scenario",
    "Contradiction",
    "SurvivalSign",
    "Where",
    "Reason",
    "SourceLine",
    "Allocation",
    "ModuleShare",
    "MemoryPart",
    "Moment",
    "LiveArray",
    "Axis",
    "Room",
    "Attempt",
    "Recompilation",
    "Compiled",
    "Link",
    "RankReasons",
    "Remedy",
    "RuledOut",
    "Diagnosis",
    "Program",
    "Share",
    "Summary",
    "Problem",
    "ReportSummary",
    "ReportFields",
]
