#include "program/hlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "facts/evidence.h"
#include "input/byte_source.h"
#include "program/hlo_text.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestLine = std::size_t{4} << 20;  // a loop can carry ten thousand values
constexpr std::size_t kLongestAttributes = std::size_t{64} << 10;
constexpr std::size_t kLongestFrontend = std::size_t{1} << 10;
constexpr std::size_t kLongestLiteral = 200;
constexpr std::int64_t kMostParameters = std::int64_t{1} << 20;
constexpr std::size_t kMostFrames = 500000;
constexpr std::size_t kMostHeader = 1000;
constexpr std::size_t kMaxLabel = 250;  // the length at which the compiler cuts labels in its reports
constexpr int kMaxFrames = 200;

// Returns -1 unless the text begins with a non-negative number that fits.
std::int64_t NumberIn(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && number >= 0 ? number : -1;
}

// Returns the name of "%add.1", "f32[8]{0} %add.1" or "f32[8]{0} add.1".
std::string_view OperandName(std::string_view operand) {
  const std::size_t blank = operand.rfind(' ');
  if (blank != std::string_view::npos) operand.remove_prefix(blank + 1);
  if (operand.starts_with('%')) operand.remove_prefix(1);
  return operand;
}

bool EndsComputation(std::string_view line) {
  return line == "}" || line.starts_with("} ") || line.starts_with("}, execution_thread");
}

// The backend_config is long and printed last, so the rest need not be parsed.
bool IsBackendConfig(std::string_view rest) { return rest.starts_with(" backend_config={") && rest.ends_with('}'); }

class HloReader {
 public:
  HloReader(ByteSource& source, const HloLimits& limits)
      : source_(source),
        limits_(limits),
        texts_(*module_.text),
        tables_(*module_.text),
        shapes_(texts_, &module_.shapes) {}

  HloModule Read() {
    TextLines lines(source_, kLongestLine);
    std::string_view line;
    while (lines.Next(&line)) {
      if (line.size() >= kLongestLine) module_.over_limit = true;
      ReadLine(line);
      if (OverLimits()) {
        module_.over_limit = true;
        break;
      }
    }
    FinishPending();
    if (open_) module_.whole = false;
    EndComputation();
    if (!module_.entry || !tables_.whole() || !source_.problem().empty() || module_.over_limit) module_.whole = false;
    if (module_.frames.empty()) module_.frames = tables_.Frames();
    return std::move(module_);
  }

 private:
  void ReadLine(std::string_view line) {
    if (!pending_.empty()) {
      if (GoesOn(line)) return;
      FinishPending();
    }
    if (line.empty()) return;
    if (line.front() == ' ') return ReadInstruction(line, true);
    if (EndsComputation(line)) return EndComputation();
    if (module_.computations.empty() && line.starts_with("HloModule ")) return ReadHead(line);
    if (module_.computations.empty() && tables_.Read(line)) return;
    std::string_view name;
    bool entry = false;
    if (BeginsComputation(line, &name, &entry)) {
      BeginComputation(name, entry);
    } else {
      module_.whole = false;
    }
  }

  bool GoesOn(std::string_view line) {
    const bool other = EndsComputation(line) || line.starts_with('%') || line.starts_with("ENTRY ") ||
                       BeginsInstruction(line) || pending_.size() + line.size() >= kLongestLine;
    if (other) return false;
    pending_ += '\n';
    pending_ += line;
    pending_nesting_.Add(line);
    if (pending_nesting_.closed()) FinishPending();
    return true;
  }

  void FinishPending() {
    if (pending_.empty()) return;
    const std::string line = std::exchange(pending_, std::string());
    ReadInstruction(line, false);
  }

  // "HloModule jit_step, is_scheduled=true, entry_computation_layout={…}"
  void ReadHead(std::string_view line) {
    line.remove_prefix(std::string_view("HloModule ").size());
    ListReader parts(line);
    module_.name = parts.Next().value_or("");
    while (const auto part = parts.Next()) {
      const AttributePart attribute = SplitAttribute(*part);
      if (attribute.key.empty()) continue;
      if (module_.header.size() >= kMostHeader) {
        module_.over_limit = true;
        break;
      }
      module_.header.emplace(attribute.key, attribute.value);
    }
    if (!parts.closed()) module_.whole = false;
  }

  void BeginComputation(std::string_view name, bool entry) {
    if (open_) module_.whole = false;
    EndComputation();
    if (module_.computations.empty()) module_.frames = tables_.Frames();
    open_ = module_.computations.next_id();
    module_.computations.emplace_back().name = module_.text->Keep(name);
    const bool is_new = computations_.emplace(module_.computations.back().name, open_).second;
    if (!is_new || (entry && module_.entry)) module_.whole = false;
    if (entry && !module_.entry) module_.entry = open_;
  }

  void EndComputation() {
    if (!open_) return;
    HloComputation& computation = module_.computations[open_];
    open_ = {};
    repeated_ = {};
    if (!computation.root) module_.whole = false;
    // Larger numbers are damage and must not cause large allocations.
    const auto most = static_cast<std::int64_t>(2 * parameters_.size() + 16);
    for (const auto& [number, instruction] : parameters_) {
      if (number < 0 || number >= std::min(most, kMostParameters)) {
        module_.whole = false;
        continue;
      }
      if (std::cmp_greater_equal(number, computation.parameters.size())) computation.parameters.resize(number + 1);
      computation.parameters[number] = instruction;
    }
    const std::vector<InstructionId>& all = computation.parameters;
    if (std::find(all.begin(), all.end(), InstructionId()) != all.end()) module_.whole = false;
    parameters_.clear();
  }

  void ReadInstruction(std::string_view line, bool may_go_on) {
    InstructionLine parts;
    if (!open_ || !SplitInstruction(line, &parts)) {
      module_.whole = false;
      return;
    }
    HloInstruction instruction;
    calls_.clear();
    const bool closed = ReadAttributes(parts.attributes, &instruction, &calls_) && parts.closed;
    if (!closed && may_go_on && line.size() < kLongestLine) {
      pending_ = line;
      pending_nesting_ = Nesting();
      pending_nesting_.Add(line);
      return;
    }
    if (!closed) module_.whole = false;
    instruction.name = module_.text->Keep(parts.name);
    instruction.opcode = texts_.Keep(parts.opcode);
    instruction.shape = shapes_.Number(parts.shape);
    const bool is_parameter = parts.opcode == "parameter";
    if (is_parameter || parts.opcode == "constant") {
      instruction.literal = texts_.Keep(parts.operands.substr(0, kLongestLiteral));
    } else {
      instruction.operands = ReadOperands(parts.operands);
    }
    const InstructionId id = Add(std::move(instruction));
    AddCalls(calls_, id);
    if (is_parameter) parameters_.emplace_back(NumberIn(parts.operands), id);
    if (parts.root) module_.computations[open_].root = id;
  }

  std::vector<InstructionId> ReadOperands(std::string_view list) {
    operands_.clear();
    ListReader parts(list);
    while (const auto part = parts.Next()) {
      if (const InstructionId operand = FindOperand(OperandName(*part))) {
        operands_.push_back(operand);
      } else {
        module_.whole = false;
      }
    }
    return operands_;  // a copy without spare capacity
  }

  // Finds an instruction of the open computation, or adds an abbreviated one; an empty id if there is none.
  InstructionId FindOperand(std::string_view name) {
    const InstructionId found = module_.Find(name);
    if (found && module_.instructions[found].computation == open_) return found;
    const InstructionId* here = Find(repeated_, name);
    return here != nullptr ? *here : AddElement(name);
  }

  // Adds the get-tuple-element that "loop.5#1" abbreviates.
  InstructionId AddElement(std::string_view name) {
    const std::size_t mark = name.rfind('#');
    if (mark == std::string_view::npos || mark == 0 || name.find('#') != mark) return {};
    const InstructionId tuple = FindOperand(name.substr(0, mark));
    const std::int64_t index = NumberIn(name.substr(mark + 1));
    if (!tuple || index < 0) return {};
    const std::vector<int>& elements = module_.ShapeOf(tuple).elements;
    if (std::cmp_greater_equal(index, elements.size())) return {};
    HloInstruction element;
    element.name = module_.text->Keep(name);
    element.opcode = texts_.Keep("get-tuple-element");
    element.attributes = texts_.Keep("index=" + std::to_string(index));
    element.shape = elements[index];
    element.operands = {tuple};
    return Add(std::move(element));
  }

  bool ReadAttributes(std::string_view list, HloInstruction* instruction, std::vector<std::string_view>* calls) {
    scratch_.clear();
    ListReader parts(list);
    std::string_view condition;
    while (!IsBackendConfig(parts.rest())) {
      const auto part = parts.Next();
      if (!part) break;
      const AttributePart attribute = SplitAttribute(*part);
      if (attribute.key == "backend_config") continue;
      if (attribute.key == "metadata") {
        ReadMetadata(WithoutBraces(attribute.value), instruction);
        continue;
      }
      if (attribute.key == "frontend_attributes") {
        instruction->frontend = texts_.Keep(attribute.text.substr(0, kLongestFrontend));
        continue;
      }
      if (attribute.key == "condition" && condition.empty()) {
        condition = attribute.value;
      } else if (CallsComputations(attribute.key)) {
        calls->push_back(attribute.value);
      }
      if (scratch_.size() >= kLongestAttributes) continue;
      if (!scratch_.empty()) scratch_ += ", ";
      scratch_ += attribute.text;
    }
    if (!condition.empty()) calls->insert(calls->begin(), condition);  // before the body, whatever the printed order
    if (scratch_.size() > kLongestAttributes) scratch_.resize(kLongestAttributes);
    instruction->attributes = texts_.Keep(scratch_);
    return parts.closed();
  }

  // op_name="jit(step)/add" stack_frame_id=5, or source_file="train.py" source_line=41
  void ReadMetadata(std::string_view metadata, HloInstruction* instruction) {
    std::string_view file;
    std::int64_t line = 0;
    ListReader fields(metadata, ' ');
    while (const auto text = fields.Next()) {
      const AttributePart field = SplitAttribute(*text);
      if (field.key == "op_name") instruction->op_name = texts_.Keep(WithoutQuotes(field.value));
      if (field.key == "source_file") file = WithoutQuotes(field.value);
      if (field.key == "source_line") line = std::max<std::int64_t>(0, NumberIn(field.value));
      if (field.key == "stack_frame_id") {
        const std::int64_t frame = NumberIn(field.value);
        if (frame > 0 && frame < static_cast<std::int64_t>(module_.frames.size()))
          instruction->frame = static_cast<int>(frame);
      }
    }
    if (!file.empty()) instruction->frame = FrameFor(file, line, instruction->frame);
  }

  int FrameFor(std::string_view file, std::int64_t line, int parent) {
    const auto found = made_frames_.find({file, {line, parent}});
    if (found != made_frames_.end()) return found->second;
    if (module_.frames.size() >= kMostFrames) return parent;
    const int frame = static_cast<int>(module_.frames.size());
    module_.frames.push_back({texts_.Keep(file), line, parent});
    made_frames_.emplace(std::pair(module_.frames.back().file, std::pair(line, parent)), frame);
    return frame;
  }

  ComputationId FindComputation(std::string_view name) const {
    const ComputationId* found = Find(computations_, name);
    return found == nullptr ? ComputationId() : *found;
  }

  // Each value is "%c" or "{%a, %b}".
  void AddCalls(const std::vector<std::string_view>& values, InstructionId instruction) {
    std::vector<ComputationId>& calls = module_.instructions[instruction].calls;
    for (const std::string_view value : values) {
      ListReader parts(WithoutBraces(value));
      while (const auto part = parts.Next()) {
        const std::string_view name = OperandName(*part);
        const ComputationId called = FindComputation(name);
        if (!called || called == open_) {  // a computation is printed before those that call it
          module_.whole = false;
          continue;
        }
        calls.push_back(called);
        reference_bytes_ += sizeof(ComputationId);
      }
    }
  }

  InstructionId Add(HloInstruction instruction) {
    const InstructionId id = module_.instructions.next_id();
    instruction.computation = open_;
    reference_bytes_ += sizeof(InstructionId) * instruction.operands.size();
    module_.computations[open_].instructions.push_back(id);
    // Several computations may use one name. HloModule::Find returns the first instruction of that name.
    const auto [first, is_new] = module_.by_name.emplace(instruction.name, id);
    if (!is_new &&
        (module_.instructions[first->second].computation == open_ || !repeated_.emplace(instruction.name, id).second))
      module_.whole = false;
    module_.instructions.push_back(std::move(instruction));
    return id;
  }

  bool OverLimits() const {
    return module_.instructions.size() >= limits_.instructions || module_.computations.size() >= limits_.instructions ||
           module_.text->bytes() + shapes_.bytes() + reference_bytes_ > limits_.text_bytes;
  }

  ByteSource& source_;
  const HloLimits limits_;
  HloModule module_ = [] {
    HloModule module;
    module.text = std::make_shared<TextArena>();
    return module;
  }();
  TextPool texts_;
  SourceTables tables_;
  ShapeTable shapes_;
  NameMap<ComputationId> computations_;
  ComputationId open_;               // the computation that is being read
  NameMap<InstructionId> repeated_;  // its instructions whose name an earlier computation uses
  std::vector<std::pair<std::int64_t, InstructionId>> parameters_;  // of the open computation, by number
  std::map<std::pair<std::string_view, std::pair<std::int64_t, int>>, int> made_frames_;
  std::string pending_;  // an instruction that continues on the next line: attributes may contain line feeds
  Nesting pending_nesting_;
  std::size_t reference_bytes_ = 0;  // approximate memory of operands and calls
  std::string scratch_;
  std::vector<std::string_view> calls_;
  std::vector<InstructionId> operands_;
};

}  // namespace

std::string_view Attribute(std::string_view attributes, std::string_view name) {
  ListReader parts(attributes);
  while (const auto part = parts.Next()) {
    const AttributePart attribute = SplitAttribute(*part);
    if (attribute.key == name) return attribute.value;
  }
  return {};
}

std::vector<std::int64_t> Integers(std::string_view list) {
  std::vector<std::int64_t> integers;
  ListReader parts(WithoutBraces(list));
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
  std::string label = std::string(read.name) + " = " + std::string(read.opcode) + "(" + std::string(read.literal);
  bool first = true;
  for (const InstructionId operand : read.operands) {
    if (label.size() > kMaxLabel) break;
    if (!first) label += ", ";
    label += module.instructions[operand].name;
    first = false;
  }
  label += ")";
  for (const std::string_view more : {read.attributes, read.frontend}) {
    if (!more.empty()) label += ", " + std::string(more.substr(0, 2 * kMaxLabel));
  }
  std::erase(label, '%');
  std::replace(label.begin(), label.end(), '\n', ' ');  // kernel descriptions have several lines
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

HloModule ReadHlo(ByteSource& source, const HloLimits& limits) { return HloReader(source, limits).Read(); }

int PartitionsOf(const HloModule& module) {
  int partitions = 1;
  if (const auto found = module.header.find("num_partitions"); found != module.header.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), partitions);
  return std::max(1, partitions);
}

std::vector<InstructionId> HostTransfers(const HloModule& module) {
  constexpr std::size_t kMostTransfers = 1000;
  std::vector<InstructionId> transfers;
  for (const InstructionId id : module.instructions.ids()) {
    const HloInstruction& is = module.instructions[id];
    if (is.opcode != "send" || Attribute(is.attributes, "is_host_transfer") != "true") continue;
    if (transfers.size() >= kMostTransfers) break;
    transfers.push_back(id);
  }
  return transfers;
}

}  // namespace whyoom
