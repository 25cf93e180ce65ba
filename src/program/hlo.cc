#include "program/hlo.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <map>
#include <tuple>
#include <unordered_set>

#include "facts/evidence.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestLine = std::size_t{4} << 20;  // a loop can carry ten thousand values
constexpr std::size_t kLongestAttributes = std::size_t{64} << 10;
constexpr std::size_t kLongestFrontend = std::size_t{1} << 10;
constexpr std::size_t kLongestLiteral = 200;
constexpr std::size_t kMostFrames = 500000;
constexpr std::size_t kMaxLabel = 250;  // the length at which the compiler cuts labels in its reports
constexpr int kMaxFrames = 200;

// Returns -1 unless the text begins with a number.
std::int64_t NumberIn(std::string_view text) { return TakeNumber(&text).value_or(-1); }

// Returns the name of "%add.1", "f32[8]{0} %add.1" or "f32[8]{0} add.1".
std::string_view OperandName(std::string_view operand) {
  operand.remove_prefix(operand.rfind(' ') + 1);
  Take(&operand, "%");
  return operand;
}

bool EndsComputation(std::string_view line) {
  return line == "}" || line.starts_with("} ") || line.starts_with("}, execution_thread");
}

// Whether an attribute names computations that the instruction calls. A loop's condition is read separately.
bool CallsComputations(std::string_view key) {
  return key == "calls" || key == "to_apply" || key == "body" || key == "branch_computations" ||
         key == "called_computations" || key == "true_computation" || key == "false_computation" || key == "select" ||
         key == "scatter" || key == "comparator";
}

// The backend_config is long and printed last, so the rest need not be parsed.
bool IsBackendConfig(std::string_view rest) { return rest.starts_with(" backend_config={") && rest.ends_with('}'); }

// Reads the tables FileNames, FunctionNames, FileLocations and StackFrames at the top of HLO text. They map a
// stack_frame_id to files and lines. Each refers only to those before it.
struct SourceTables {
  enum Table { kFiles, kFunctions, kLocations, kFrames };

  Arena& arena;                                         // of the names
  std::array<std::vector<SourceFrame>, 4> tables = {};  // by Table; the first row of each stands for no row
  std::optional<int> open = {};
  bool parents_are_high = false;
  bool whole = true;  // false: some lines were damaged

  // Reads a line before the first computation. Returns false unless the line belongs to a table or is blank.
  bool Read(std::string_view line) {
    constexpr std::array<std::string_view, 4> kTitles = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"};
    if (line.empty()) return true;
    if (const auto* title = std::ranges::find(kTitles, line); title != kTitles.end()) {
      open = title - kTitles.begin();
      return true;
    }
    const std::optional<std::int64_t> id = TakeNumber(&line);
    if (!open || !id) return false;
    whole = Take(&line, " ") && ReadRow(*id, line) && whole;
    return true;
  }

  // All frames by number; 0 is no frame. A frame's parent has a smaller number than the frame.
  std::vector<SourceFrame> Frames() const {
    std::vector<SourceFrame> frames = tables[kFrames];
    frames.resize(std::max<std::size_t>(1, frames.size()));
    for (int id = 0; std::cmp_less(id, frames.size()); ++id) {
      const int parent = frames[id].parent - (parents_are_high ? 1 : 0);
      frames[id].parent = parent > 0 && parent < id ? parent : 0;
    }
    return frames;
  }

  // "\"train.py\"", "{file_name_id=1 function_name_id=1 line=41 …}" or "{file_location_id=1 parent_frame_id=1}"
  bool ReadRow(std::int64_t id, std::string_view text) {
    const std::string_view inside = WithoutEnds(text);
    if (id >= static_cast<std::int64_t>(kMostFrames) || inside.size() == text.size()) return false;
    SourceFrame row;
    if (open == kFiles) row.file = arena.Keep(inside);
    if (open == kLocations) row = {RowNamed(kFiles, inside, "file_name_id=").file, NumberAfter(inside, " line=")};
    if (open == kFrames) {
      row = RowNamed(kLocations, inside, "file_location_id=");
      row.parent = static_cast<int>(std::min<std::int64_t>(NumberAfter(inside, "parent_frame_id="), kMostFrames));
      // Some versions of XLA print parents that are one too high, as a frame that seems to be its own parent proves.
      if (row.parent == id) parents_are_high = true;
    }
    std::vector<SourceFrame>& rows = tables[*open];
    rows.resize(std::max<std::size_t>(rows.size(), id + 1));
    rows[id] = row;
    return true;
  }

  // The number after `key`; 0 if absent.
  static std::int64_t NumberAfter(std::string_view text, std::string_view key) {
    const std::size_t at = text.find(key);
    return at == std::string_view::npos ? 0 : std::max<std::int64_t>(0, NumberIn(text.substr(at + key.size())));
  }

  SourceFrame RowNamed(Table table, std::string_view text, std::string_view key) const {
    const std::int64_t id = NumberAfter(text, key);
    return std::cmp_less(id, tables[table].size()) ? tables[table][id] : SourceFrame();
  }
};

struct HloReader {
  ByteSource& source;
  const HloLimits& limits;
  HloModule module = {.shapes = std::vector<HloShape>(1)};
  SourceTables tables = {*module.memory};
  std::unordered_set<std::string_view, NameHash> texts;
  NameMap<int> shapes;          // their indices
  std::size_t shape_bytes = 0;  // approximate memory of the shapes
  NameMap<ComputationId> computation_ids;
  ComputationId open;            // the computation that is being read
  NameMap<InstructionId> names;  // of its instructions; other computations may use the same names
  std::vector<std::pair<std::int64_t, InstructionId>> parameters;  // of the open computation, by number
  std::map<std::tuple<std::string_view, std::int64_t, int>, int> made_frames;
  std::string pending = {};  // an instruction that continues on the next line: attributes may contain line feeds
  // The instruction that is being read; members, so that they need no new memory.
  std::string scratch;
  std::vector<std::string_view> calls;
  std::vector<ComputationId> callees;
  std::vector<InstructionId> operand_ids;

  HloModule Read() {
    TextLines lines(source, kLongestLine);
    std::string_view line;
    while (!IsOverLimits() && lines.Next(&line)) {
      if (line.size() >= kLongestLine) module.over_limit = true;
      ReadLine(line);
    }
    if (IsOverLimits()) module.over_limit = true;
    if (!pending.empty()) ReadInstruction(pending, false);
    if (open) module.whole = false;
    EndComputation();
    if (!module.entry || !tables.whole || !source.problem().empty() || module.over_limit) module.whole = false;
    if (module.frames.empty()) module.frames = tables.Frames();
    return std::move(module);
  }

  void ReadLine(std::string_view line) {
    if (!pending.empty()) {
      if (GoesOn(line)) {
        pending.append("\n").append(line);
        return;
      }
      ReadInstruction(std::exchange(pending, std::string()), false);
    }
    if (line.empty()) return;
    if (line.front() == ' ') return ReadInstruction(line, true);
    if (EndsComputation(line)) return EndComputation();
    if (module.computations.empty() && Take(&line, "HloModule ")) return ReadHead(line);
    if (module.computations.empty() && tables.Read(line)) return;
    BeginComputation(line);
  }

  // Ignores a damaged line.
  void Skip() { module.whole = false; }

  // Whether the line belongs to the pending instruction: it begins nothing else.
  bool GoesOn(std::string_view line) const {
    InstructionLine parts;
    return !EndsComputation(line) && !line.starts_with('%') && !line.starts_with("ENTRY ") &&
           pending.size() + line.size() < kLongestLine && !TakeName(&line, &parts);
  }

  // "jit_step, is_scheduled=true, entry_computation_layout={…}"
  void ReadHead(std::string_view line) {
    ListReader parts(line);
    module.name = parts.Next().value_or("");
    module.header = module.memory->Keep(parts.rest());
    while (parts.Next()) continue;
    if (!parts.closed()) module.whole = false;
  }

  // "ENTRY %main.1 (p: f32[8]) -> f32[] {"
  void BeginComputation(std::string_view line) {
    const bool entry = Take(&line, "ENTRY ");
    const bool is_marked = entry || line.starts_with('%') || line.ends_with('{');
    Take(&line, "%");
    const std::string_view name = line.substr(0, line.find_first_of(" ({\"}"));
    if (name.empty() || !is_marked) return Skip();
    if (open) module.whole = false;
    EndComputation();
    if (module.computations.empty()) module.frames = tables.Frames();
    open = module.computations.next_id();
    module.computations.emplace_back().name = module.memory->Keep(name);
    const bool is_new = computation_ids.emplace(module.computations.back().name, open).second;
    if (!is_new || (entry && module.entry)) module.whole = false;
    if (entry && !module.entry) module.entry = open;
  }

  void EndComputation() {
    if (!open) return;
    HloComputation& computation = module.computations[open];
    open = {};
    names = {};
    computation.parameters.resize(parameters.size());
    for (const auto& [number, instruction] : parameters) {
      if (number >= 0 && std::cmp_less(number, parameters.size())) computation.parameters[number] = instruction;
    }
    parameters.clear();
    if (!computation.root || std::ranges::count(computation.parameters, InstructionId()) > 0) module.whole = false;
  }

  void ReadInstruction(std::string_view line, bool may_go_on) {
    const std::optional<InstructionLine> parts = open ? SplitInstruction(line) : std::nullopt;
    if (!parts) return Skip();
    HloInstruction instruction;
    const bool closed = ReadAttributes(parts->attributes, &instruction) && parts->closed;
    if (!closed && may_go_on && line.size() < kLongestLine) {
      pending = line;
      return;
    }
    if (!closed) module.whole = false;
    instruction.name = module.memory->Keep(parts->name);
    instruction.opcode = Keep(parts->opcode);
    instruction.shape = ShapeNumber(parts->shape);
    instruction.calls = ReadCalls();
    const bool is_parameter = parts->opcode == "parameter";
    if (is_parameter || parts->opcode == "constant") {
      instruction.literal = Keep(parts->operands.substr(0, kLongestLiteral));
    } else {
      instruction.operands = ReadOperands(parts->operands);
    }
    const InstructionId id = Add(instruction);
    if (is_parameter) parameters.emplace_back(NumberIn(parts->operands), id);
    if (parts->root) module.computations[open].root = id;
  }

  // Stores equal texts once, since nearly every line repeats some.
  std::string_view Keep(std::string_view text) {
    if (text.empty()) return {};
    const auto known = texts.find(text);
    return known != texts.end() ? *known : *texts.insert(module.memory->Keep(text)).first;
  }

  // Returns the index of the shape with this text; adds the shape if it is new.
  int ShapeNumber(std::string_view text, int depth = 0) {
    constexpr int kDeepest = 16;  // nested tuples; XLA's are at most three deep
    if (text.empty() || depth > kDeepest) return 0;
    if (const int* known = Find(shapes, text)) return *known;
    HloShape shape;
    shape.is_tuple = text.front() == '(';
    if (shape.is_tuple) {
      ListReader elements(WithoutEnds(text));
      while (const auto element = elements.Next()) shape.elements.push_back(ShapeNumber(*element, depth + 1));
    } else if (std::optional<ArrayShape> array = ParseArrayShape(text); array && ElementBits(array->dtype)) {
      shape.array = *std::move(array);
    } else {
      return 0;
    }
    shape_bytes += sizeof(HloShape) + 64 + 4 * shape.elements.size();
    const int number = static_cast<int>(module.shapes.size());
    module.shapes.push_back(std::move(shape));
    shapes.emplace(Keep(text), number);
    return number;
  }

  std::span<const InstructionId> ReadOperands(std::string_view list) {
    operand_ids.clear();
    ListReader parts(list);
    while (const auto part = parts.Next()) {
      if (const InstructionId operand = FindOperand(OperandName(*part))) {
        operand_ids.push_back(operand);
      } else {
        module.whole = false;
      }
    }
    return module.memory->Keep<InstructionId>(operand_ids);
  }

  // Finds an instruction of the open computation, or adds the get-tuple-element that "loop.5#1" abbreviates. Returns an
  // empty id if there is none.
  InstructionId FindOperand(std::string_view name) {
    if (const InstructionId* found = Find(names, name)) return *found;
    const std::size_t mark = name.rfind('#');
    if (mark == std::string_view::npos || mark == 0 || name.find('#') != mark) return {};
    const InstructionId tuple = FindOperand(name.substr(0, mark));
    const std::int64_t index = NumberIn(name.substr(mark + 1));
    if (!tuple || index < 0) return {};
    const std::vector<int>& elements = module.ShapeOf(tuple).elements;
    if (std::cmp_greater_equal(index, elements.size())) return {};
    HloInstruction element;
    element.name = module.memory->Keep(name);
    element.opcode = Keep("get-tuple-element");
    element.attributes = Keep("index=" + std::to_string(index));
    element.shape = elements[index];
    element.operands = module.memory->Keep<InstructionId>({&tuple, 1});
    return Add(element);
  }

  // Also collects the values of attributes that name computations. Returns false if a bracket or quote is not closed.
  bool ReadAttributes(std::string_view list, HloInstruction* instruction) {
    scratch.clear();
    calls.clear();
    ListReader parts(list);
    std::string_view condition;
    while (!IsBackendConfig(parts.rest())) {
      const auto part = parts.Next();
      if (!part) break;
      const auto [key, value] = SplitAttribute(*part);
      if (key == "backend_config") continue;
      if (key == "metadata") {
        ReadMetadata(WithoutEnds(value), instruction);
        continue;
      }
      if (key == "frontend_attributes") {
        instruction->frontend = Keep(part->substr(0, kLongestFrontend));
        continue;
      }
      if (key == "condition" && condition.empty()) {
        condition = value;
      } else if (CallsComputations(key)) {
        calls.push_back(value);
      }
      if (scratch.size() >= kLongestAttributes) continue;
      if (!scratch.empty()) scratch += ", ";
      scratch += *part;
    }
    if (!condition.empty()) calls.insert(calls.begin(), condition);  // before the body, whatever the printed order
    if (scratch.size() > kLongestAttributes) scratch.resize(kLongestAttributes);
    instruction->attributes = Keep(scratch);
    return parts.closed();
  }

  // op_name="jit(step)/add" stack_frame_id=5, or source_file="train.py" source_line=41
  void ReadMetadata(std::string_view metadata, HloInstruction* instruction) {
    const auto field = [&](std::string_view name) { return WithoutEnds(Attribute(metadata, name, ' ')); };
    instruction->op_name = Keep(field("op_name"));
    const std::int64_t frame = NumberIn(field("stack_frame_id"));
    if (frame > 0 && std::cmp_less(frame, module.frames.size())) instruction->frame = static_cast<int>(frame);
    const std::string_view file = Keep(field("source_file"));
    if (file.empty() || module.frames.size() >= kMostFrames) return;
    const SourceFrame made{file, std::max<std::int64_t>(0, NumberIn(field("source_line"))), instruction->frame};
    const auto [number, is_new] = made_frames.try_emplace({made.file, made.line, made.parent}, module.frames.size());
    if (is_new) module.frames.push_back(made);
    instruction->frame = number->second;
  }

  // The computations that the attributes name: "%c" or "{%a, %b}".
  std::span<const ComputationId> ReadCalls() {
    callees.clear();
    for (const std::string_view value : calls) {
      ListReader parts(WithoutEnds(value));
      while (const auto part = parts.Next()) {
        const ComputationId* called = Find(computation_ids, OperandName(*part));
        if (called != nullptr && *called != open) {  // a computation is printed before those that call it
          callees.push_back(*called);
        } else {
          module.whole = false;
        }
      }
    }
    return module.memory->Keep<ComputationId>(callees);
  }

  InstructionId Add(const HloInstruction& instruction) {
    const InstructionId id = module.instructions.next_id();
    module.computations[open].instructions.push_back(id);
    if (!names.emplace(instruction.name, id).second) module.whole = false;
    module.by_name.emplace(instruction.name, id);
    module.instructions.push_back(instruction);
    module.instructions.back().computation = open;
    return id;
  }

  bool IsOverLimits() const {
    return module.instructions.size() >= limits.instructions || module.computations.size() >= limits.instructions ||
           module.memory->bytes() + shape_bytes > limits.text_bytes;
  }
};

}  // namespace

std::string_view Attribute(std::string_view attributes, std::string_view name, char separator) {
  ListReader parts(attributes, separator);
  while (const auto part = parts.Next()) {
    const auto [key, value] = SplitAttribute(*part);
    if (key == name) return value;
  }
  return {};
}

std::vector<std::int64_t> Integers(std::string_view list) {
  std::vector<std::int64_t> integers;
  ListReader parts(WithoutEnds(list));
  while (const auto part = parts.Next()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(part->data(), part->data() + part->size(), number);
    if (error != std::errc() || end != part->data() + part->size()) break;
    integers.push_back(number);
  }
  return integers;
}

std::string InstructionLabel(const HloModule& module, InstructionId instruction) {
  const HloInstruction& read = module.instructions[instruction];
  std::vector<std::string_view> operands;
  for (const InstructionId operand : read.operands.first(std::min(read.operands.size(), kMaxLabel)))
    operands.push_back(module.instructions[operand].name);
  std::string label = fmt::format("{} = {}({}{})", read.name, read.opcode, read.literal, fmt::join(operands, ", "));
  for (const std::string_view more : {read.attributes, read.frontend}) {
    if (!more.empty()) label += fmt::format(", {}", more.substr(0, 2 * kMaxLabel));
  }
  std::erase(label, '%');
  std::ranges::replace(label, '\n', ' ');  // kernel descriptions have several lines
  return label.substr(0, kMaxLabel);
}

SourceLine UserLine(const HloModule& module, InstructionId instruction) {
  SourceLine found;
  int number = module.instructions[instruction].frame;
  for (int depth = 0; depth < kMaxFrames && number > 0; ++depth) {
    const SourceFrame& frame = module.frames[number];
    number = frame.parent;
    if (frame.file.empty()) continue;
    const bool library = IsLibraryPath(frame.file);
    if (found.file.empty() || !library) {
      found.file = frame.file;
      found.line = frame.line > 0 ? std::optional(frame.line) : std::nullopt;
    }
    if (!library) break;
  }
  return found;
}

std::string ShapeAtLine(const HloModule& module, const ArrayShape& shape, InstructionId instruction) {
  const SourceLine line = UserLine(module, instruction);
  return line.file.empty() ? shape.shape : fmt::format("{} at {}:{}", shape.shape, line.file, line.line.value_or(0));
}

HloModule ReadHlo(ByteSource& source, const HloLimits& limits) { return HloReader{source, limits}.Read(); }

int PartitionsOf(const HloModule& module) {
  return static_cast<int>(std::clamp<std::int64_t>(NumberIn(Attribute(module.header, "num_partitions")), 1, INT32_MAX));
}

std::vector<InstructionId> HostTransfers(const HloModule& module) {
  constexpr std::size_t kMostTransfers = 1000;
  std::vector<InstructionId> transfers;
  for (const InstructionId id : module.instructions.ids()) {
    const HloInstruction& is = module.instructions[id];
    const bool is_transfer = is.opcode == "send" && Attribute(is.attributes, "is_host_transfer") == "true";
    if (is_transfer && transfers.size() < kMostTransfers) transfers.push_back(id);
  }
  return transfers;
}

}  // namespace whyoom
