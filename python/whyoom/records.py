"""The records of a report. Made from docs/report.schema.json by tools/python_types.py; not to be edited.

Each is the dictionary that the program prints, whose fields are attributes, too; what is not known is None there.
"""

from typing import Dict, List, Literal, Optional, Union

from ._record import Record


class Tool(Record):
    __slots__ = ()
    version: str
    rules: str
    # The rule files in use beside the built-in data; absent where that is all.
    rule_files: Optional[List[str]]


class Job(Record):
    """The job of a report that whyoom run wrote."""

    __slots__ = ()
    # 128 and the signal's number where a signal ended it.
    exit_status: int


class Scenario(Record):
    __slots__ = ()
    id: str
    title: str
    why: Optional[str]


class Contradiction(Record):
    """Figures of the log that cannot all be right; nothing is concluded from them."""

    __slots__ = ()
    id: str
    text: str
    line: Optional[int]
    # The figures as they were read; they are not among the facts.
    figures: Dict[str, Union[int, float, str, bool]]


class Where(Record):
    __slots__ = ()
    path: str
    path_bytes: Optional[str]
    # The name inside an archive.
    member: Optional[str]
    member_bytes: Optional[str]
    line: int
    last_line: int
    # Bytes from the start of the input.
    offset: int


class Reason(Record):
    __slots__ = ()
    text: str
    line: Optional[int]


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
    # By the user's modules, the largest first; not all need be there.
    by: Optional[List[ModuleShare]]


class Moment(Record):
    __slots__ = ()
    # 0: the begin, 1: the end.
    at: float
    bytes: int


class Axis(Record):
    """A dimension of an argument."""

    __slots__ = ()
    # The argument, as the program's user names it.
    array: str
    # From 0.
    number: int
    # On all devices together.
    length: int
    # What it is, where that can be told: batch, sequence, vocabulary.
    name: Optional[str]


class Room(Record):
    """What fits, where the XLA dump tells, in the sizes of the program as its user wrote it: of all devices together. 0
    does not occur: what is not known or does not fit is absent.
    """

    __slots__ = ()
    _records = {"batch_axis": Axis, "sequence_axis": Axis}
    batch: Optional[int]
    largest_batch: Optional[int]
    # A number that fits: 4 or fewer where that does, else the fewest that do; those of the remedy.
    micro_batches: Optional[int]
    sequence: Optional[int]
    largest_sequence: Optional[int]
    # The devices that the batch is split over, where they are several.
    batch_devices: Optional[int]
    # The dimension that batch and largest_batch mean.
    batch_axis: Optional[Axis]
    # The dimension that sequence and largest_sequence mean.
    sequence_axis: Optional[Axis]


class Link(Record):
    __slots__ = ()
    title: str
    url: str


class RankReasons(Record):
    """Why the remedy stands where it does: what they are sorted by, in this order."""

    __slots__ = ()
    # It finds out which scenario it is, where that has to be known first; true ranks higher.
    finds_out: bool
    # As free of the remedy; false ranks higher.
    free: Optional[bool]
    # It is estimated not to be enough, alone or with another; false ranks higher.
    falls_short: Optional[bool]
    # This log speaks for it: by evidence, or by an estimate that covers the excess, alone or with another; true ranks
    # higher.
    supported: bool
    # It is estimated not to be enough; false ranks higher.
    too_little: bool
    # Nothing is known of it, where others were worked out on the program or the list; false ranks higher.
    gamble: bool
    # To the user, 0 to 6, see rules/README.md; 0 where supported is false. The lower ranks higher.
    cost: int
    # Whether it is enough is known; true ranks higher.
    estimated: bool
    # As borderline; false ranks higher.
    doubtful: bool
    # The rule data's order for this scenario; the lower ranks higher, and then the id decides.
    prior: int


class Remedy(Record):
    __slots__ = ()
    _records = {"axis": Axis, "why": Reason, "links": Link, "rank_reasons": RankReasons}
    rank: int
    id: str
    title: str
    section: Optional[str]
    safety: Literal["safe", "safe_slower", "risky", "changes_training"]
    safety_why: Optional[str]
    gain: str
    # An estimate: what the whole program needs less.
    saves_bytes: Optional[int]
    # What the program then needs, against limit_bytes; absent where its need is not wholly known.
    left_bytes: Optional[int]
    # How far off left_bytes may be, up or down.
    spread_bytes: Optional[int]
    # What the figures were worked out on.
    basis: Optional[Literal["program", "list"]]
    # The devices, steps or pieces that the figures are for.
    parts: Optional[int]
    # What is cut into them.
    axis: Optional[Axis]
    # saves_bytes is of what is listed, which is less than half of the need; more may be saved.
    at_least: Optional[bool]
    # Whether the estimate covers the excess; of this remedy alone.
    enough: Optional[bool]
    # The excess is within spread_bytes of what is saved: enough may turn out otherwise.
    borderline: Optional[bool]
    # Ids of remedies together with which it is enough.
    enough_with: Optional[List[str]]
    # It costs nothing and is not enough alone: reports list it apart.
    free: Optional[bool]
    note: Optional[str]
    why: List[Reason]
    how: List[str]
    links: List[Link]
    # Absent in what older versions wrote.
    rank_reasons: Optional[RankReasons]


class RuledOut(Record):
    __slots__ = ()
    id: str
    title: str
    why: str


class BudgetStep(Record):
    __slots__ = ()
    id: str
    saves_bytes: int


class Budget(Record):
    __slots__ = ()
    _records = {"steps": BudgetStep}
    excess_bytes: int
    steps: List[BudgetStep]
    covered: bool
    # The excess is less than that; the log's sizes are rounded.
    at_most: Optional[bool]


class Diagnosis(Record):
    __slots__ = ()
    _records = {
        "scenario": Scenario,
        "scenario_candidates": Scenario,
        "contradictions": Contradiction,
        "where": Where,
        "also": Where,
        "why": Reason,
        "allocations": Allocation,
        "memory": MemoryPart,
        "timeline": Moment,
        "room": Room,
        "remedies": Remedy,
        "ruled_out": RuledOut,
        "budget": Budget,
        "links": Link,
    }
    # The same failure has the same id, whatever the host, time or prefix.
    id: str
    code: str
    aliases: Optional[List[str]]
    title: str
    category: str
    scenario: Optional[Scenario]
    # Where the log cannot tell: those that it leaves open.
    scenario_candidates: Optional[List[Scenario]]
    confidence: Literal["low", "medium", "high"]
    # Where the log contradicts itself; confidence is low.
    contradictions: Optional[List[Contradiction]]
    # Whether the same job can succeed when it is started again and nothing was changed: never, it will fail the same
    # way; maybe, it can succeed.
    retry: Optional[Literal["never", "maybe", "unknown"]]
    # A sentence that says why.
    retry_why: Optional[str]
    message: str
    where: Where
    # Further places, the first hundred by path, member and offset.
    also: Optional[List[Where]]
    also_left_out: Optional[int]
    # Distinct hosts, ranks or processes that reported it.
    occurrences: int
    # More hosts than are listed; to about 3 %.
    occurrences_estimated: Optional[bool]
    # Inputs with a report of it, where more than one.
    artifacts: Optional[int]
    first_time: Optional[str]
    last_time: Optional[str]
    hosts: List[str]
    framework: Optional[str]
    facts: Dict[str, Union[int, float, str, bool]]
    why: List[Reason]
    allocations: List[Allocation]
    allocations_left_out: Optional[int]
    # What fills the memory at the peak, by kind, the largest first; where the XLA dump tells. The bytes add up to the
    # need.
    memory: Optional[List[MemoryPart]]
    # What the program takes over its schedule, where the XLA dump tells: at most 64 places in order, each the fullest
    # of its part. What fragmentation takes is in none of them; the most of them is what was live at the peak.
    timeline: Optional[List[Moment]]
    room: Optional[Room]
    remedies: List[Remedy]
    ruled_out: Optional[List[RuledOut]]
    budget: Optional[Budget]
    links: List[Link]


class Program(Record):
    """A program that was compiled and is no failure: what it takes, as its XLA dump tells or a log states."""

    __slots__ = ()
    _records = {"where": Where, "allocations": Allocation, "memory": MemoryPart, "timeline": Moment, "room": Room}
    # Of what it takes: the same program has the same id.
    id: str
    # Who tells: its XLA dump, or a line of a log.
    basis: Literal["dump", "log"]
    module: Optional[str]
    # The dump's buffer assignment, or the line.
    where: Where
    # Dumps, or lines that state the same.
    occurrences: int
    # need_bytes; where known limit_bytes, chip, arguments_bytes, output_bytes, shared_output_bytes, hlo_temp_bytes, …
    facts: Dict[str, Union[int, float, str, bool]]
    # The largest that are live at the peak.
    allocations: List[Allocation]
    # What fills the memory at the peak, by kind, the largest first; where the XLA dump tells. The bytes add up to the
    # need.
    memory: Optional[List[MemoryPart]]
    # What the program takes over its schedule, where the XLA dump tells: at most 64 places in order, each the fullest
    # of its part. What fragmentation takes is in none of them; the most of them is what was live at the peak.
    timeline: Optional[List[Moment]]
    room: Optional[Room]


class Share(Record):
    __slots__ = ()
    diagnoses: int
    occurrences: int


class Recurring(Record):
    __slots__ = ()
    id: str
    code: str
    program: Optional[str]
    occurrences: int
    artifacts: int
    first_time: Optional[str]
    last_time: Optional[str]


class Summary(Record):
    __slots__ = ()
    _records = {"recurring": Recurring}
    _tables = {"by_scenario": Share, "by_program": Share, "by_remedy": Share, "by_inquiry": Share}
    artifacts: int
    bytes: int
    # Different failures.
    diagnoses: int
    occurrences: int
    # Different failures by code.
    by_code: Dict[str, int]
    by_scenario: Dict[str, Share]
    by_program: Dict[str, Share]
    programs_left_out: Optional[int]
    # By the first remedy that is a cure.
    by_remedy: Dict[str, Share]
    # By what finds out more, of the failures whose first remedy is that: to be done before any cure.
    by_inquiry: Optional[Dict[str, Share]]
    # The failures of more than one process or input that were reported most often.
    recurring: List[Recurring]
    first_time: Optional[str]
    last_time: Optional[str]
    problem_count: int


class Problem(Record):
    __slots__ = ()
    path: str
    path_bytes: Optional[str]
    member: Optional[str]
    member_bytes: Optional[str]
    what: str
    # unknown_error: a line tells of an error about memory that no rule knows; note: all was read, and something is to
    # be said of it. Absent: the input could not be read whole, or a limit was met.
    kind: Optional[str]
    # The first one of an unknown error; absent where more of them are counted.
    line: Optional[int]
    # What it says, cut where it is long.
    text: Optional[str]
    # How often it was printed, figures aside.
    occurrences: Optional[int]
    # A shell command that prints a rule for it to begin with.
    rule_command: Optional[str]


class ReportSummary(Summary):
    __slots__ = ()
    _records = {**Summary._records, "problems": Problem}
    problems: List[Problem]
    # Failures that are not among the diagnoses, since the baseline knows them; at most 5000 are counted.
    known: Optional[int]
    # The same of those that --select and --ignore leave out.
    ignored: Optional[int]


class ReportFields(Record):
    __slots__ = ()
    _records = {"tool": Tool, "run": Job, "diagnoses": Diagnosis, "programs": Program, "summary": ReportSummary}
    schema: Literal["whyoom.report/1"]
    tool: Tool
    # Absent unless whyoom run wrote the report.
    run: Optional[Job]
    diagnoses: List[Diagnosis]
    # Those that need most, a hundred at most; absent where there are none.
    programs: Optional[List[Program]]
    programs_left_out: Optional[int]
    summary: ReportSummary


__all__ = [
    "Tool",
    "Job",
    "Scenario",
    "Contradiction",
    "Where",
    "Reason",
    "Allocation",
    "ModuleShare",
    "MemoryPart",
    "Moment",
    "Axis",
    "Room",
    "Link",
    "RankReasons",
    "Remedy",
    "RuledOut",
    "BudgetStep",
    "Budget",
    "Diagnosis",
    "Program",
    "Share",
    "Recurring",
    "Summary",
    "Problem",
    "ReportSummary",
    "ReportFields",
]
