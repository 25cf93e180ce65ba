#include "program/hlo.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "facts/source_path.h"
#include "input/byte_source.h"
#include "program/hlo_line.h"
#include "program/hlo_tables.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestLine = std::size_t{4} << 20;  // a loop may carry ten thousand values
constexpr std::size_t kUsualLine = 160;
constexpr std::size_t kLongestAttributes = std::size_t{64} << 10;
constexpr std::size_t kLongestFrontend = std::size_t{1} << 10;
constexpr std::size_t kLongestLiteral = 200;
constexpr std::int64_t kMostParameters = std::int64_t{1} << 20;
constexpr std::size_t kMostFrames = 500000;
constexpr std::size_t kMostHeader = 1000;
constexpr std::size_t kMaxLabel = 250;  // where the compiler cuts it in its own reports
constexpr int kMaxFrames = 200;

int Count(std::size_t size) { return static_cast<int>(size); }

// -1 where the text begins with no number that can be held.
std::int64_t NumberIn(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && number >= 0 ? number : -1;
}

// "%add.1", "f32[8]{0} %add.1" or "f32[8]{0} add.1": the name.
std::string_view OperandName(std::string_view operand) {
  const std::size_t blank = operand.rfind(' ');
  if (blank != std::string_view::npos) operand.remove_prefix(blank + 1);
  if (operand.starts_with('%')) operand.remove_prefix(1);
  return operand;
}

bool EndsComputation(std::string_view line) {
  return line == "}" || line.starts_with("} ") || line.starts_with("}, execution_thread");
}

// It is printed last and is long: it need not be looked through.
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
    // Room that is not used costs nothing, and moving what is there does.
    const std::uint64_t guess = source_.Size().value_or(0) / kUsualLine;
    module_.instructions.reserve(std::min<std::uint64_t>(guess, limits_.instructions));
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
    if (open_ >= 0) module_.whole = false;
    EndComputation();
    ResolveLateCalls();
    IndexNames();
    if (module_.entry < 0 || !tables_.whole() || !source_.problem().empty() || module_.over_limit)
      module_.whole = false;
    if (module_.frames.empty()) module_.frames = tables_.Frames();
    return std::move(module_);
  }

 private:
  struct LateCall {  // of a computation that was not there yet
    int instruction;
    std::size_t place;
    std::string_view name;
  };

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
    std::string_view part;
    if (parts.Next(&part)) module_.name = part;
    while (parts.Next(&part)) {
      const AttributePart attribute = SplitAttribute(part);
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
    if (open_ >= 0) module_.whole = false;
    EndComputation();
    if (module_.computations.empty()) module_.frames = tables_.Frames();
    open_ = Count(module_.computations.size());
    module_.computations.emplace_back();
    module_.computations.back().name = module_.text->Keep(name);
    const int known = computations_.FindOrAdd(module_.computations.back().name, open_,
                                              [&](int number) { return module_.computations[number].name; });
    if (known >= 0 || (entry && module_.entry >= 0)) module_.whole = false;
    if (entry && module_.entry < 0) module_.entry = open_;
  }

  void EndComputation() {
    if (open_ < 0) return;
    HloComputation& computation = module_.computations[open_];
    open_ = -1;
    here_.Clear();
    if (computation.root < 0) module_.whole = false;
    // Numbers beyond what the computation can have are damage, and must not ask for memory.
    const auto most = static_cast<std::int64_t>(2 * parameters_.size() + 16);
    for (const auto& [number, instruction] : parameters_) {
      if (number < 0 || number >= std::min(most, kMostParameters)) {
        module_.whole = false;
        continue;
      }
      const auto at = static_cast<std::size_t>(number);
      if (at >= computation.parameters.size()) computation.parameters.resize(at + 1, -1);
      computation.parameters[at] = instruction;
    }
    if (std::find(computation.parameters.begin(), computation.parameters.end(), -1) != computation.parameters.end())
      module_.whole = false;
    parameters_.clear();
  }

  void ReadInstruction(std::string_view line, bool may_go_on) {
    InstructionLine parts;
    if (open_ < 0 || !SplitInstruction(line, &parts)) {
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
    const int number = Add(std::move(instruction));
    AddCalls(calls_, number);
    if (is_parameter) parameters_.emplace_back(NumberIn(parts.operands), number);
    if (parts.root) module_.computations[open_].root = number;
  }

  std::vector<int> ReadOperands(std::string_view list) {
    operands_.clear();
    ListReader parts(list);
    std::string_view part;
    while (parts.Next(&part)) {
      const int operand = FindOperand(OperandName(part));
      if (operand >= 0) {
        operands_.push_back(operand);
      } else {
        module_.whole = false;
      }
    }
    return operands_;  // a copy that takes no more than it needs
  }

  // An instruction of the open computation, -1 where there is none yet.
  int FindOperand(std::string_view name) {
    const int found = here_.Find(name, [&](int number) { return module_.instructions[number].name; });
    return found >= 0 ? found : AddElement(name);
  }

  // "loop.5#1": adds the get-tuple-element that this is short for.
  int AddElement(std::string_view name) {
    const std::size_t mark = name.rfind('#');
    if (mark == std::string_view::npos || mark == 0) return -1;
    const int tuple = name.find('#') == mark ? FindOperand(name.substr(0, mark)) : -1;
    const std::int64_t index = NumberIn(name.substr(mark + 1));
    if (tuple < 0 || index < 0) return -1;
    const std::vector<int>& elements = module_.ShapeOf(tuple).elements;
    if (std::cmp_greater_equal(index, elements.size())) return -1;
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
    std::string_view part;
    std::string_view condition;
    while (!IsBackendConfig(parts.rest())) {
      if (MetadataReader metadata; metadata.Begin(parts.rest())) {
        ReadMetadata(metadata, instruction);
        parts.GoOn(metadata.rest(), metadata.closed());
        continue;
      }
      if (!parts.Next(&part)) break;
      const AttributePart attribute = SplitAttribute(part);
      if (attribute.key == "backend_config") continue;
      if (attribute.key == "frontend_attributes") {
        instruction->frontend = texts_.Keep(attribute.text.substr(0, kLongestFrontend));
        continue;
      }
      if (attribute.key == "custom_call_target") instruction->target = texts_.Keep(WithoutQuotes(attribute.value));
      if (attribute.key == "condition" && condition.empty()) {
        condition = attribute.value;
      } else if (CallsComputations(attribute.key)) {
        calls->push_back(attribute.value);
      }
      if (scratch_.size() >= kLongestAttributes) continue;
      if (!scratch_.empty()) scratch_ += ", ";
      scratch_ += attribute.text;
    }
    if (!condition.empty()) calls->insert(calls->begin(), condition);  // before the body, however they are printed
    if (scratch_.size() > kLongestAttributes) scratch_.resize(kLongestAttributes);
    instruction->attributes = texts_.Keep(scratch_);
    return parts.closed();
  }

  // op_name="jit(step)/add" stack_frame_id=5, or source_file="train.py" source_line=41
  void ReadMetadata(MetadataReader& fields, HloInstruction* instruction) {
    std::string_view file;
    std::int64_t line = 0;
    AttributePart field;
    while (fields.Next(&field)) {
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
    const int frame = Count(module_.frames.size());
    module_.frames.push_back({texts_.Keep(file), {}, line, parent});
    made_frames_.emplace(std::pair(module_.frames.back().file, std::pair(line, parent)), frame);
    return frame;
  }

  // "%c" or "{%a, %b}", each
  void AddCalls(const std::vector<std::string_view>& names, int instruction) {
    std::vector<int>& calls = module_.instructions[instruction].calls;
    for (const std::string_view value : names) {
      ListReader parts(WithoutBraces(value));
      std::string_view part;
      while (parts.Next(&part)) {
        const std::string_view name = OperandName(part);
        const int called = computations_.Find(name, [&](int number) { return module_.computations[number].name; });
        if (called == open_) {
          module_.whole = false;
          continue;
        }
        if (called < 0) late_calls_.push_back({instruction, calls.size(), texts_.Keep(name)});
        calls.push_back(called);
        operand_count_ += called < 0 ? sizeof(LateCall) / sizeof(int) : 1;
      }
    }
  }

  int Add(HloInstruction instruction) {
    const int number = Count(module_.instructions.size());
    instruction.computation = open_;
    operand_count_ += instruction.operands.size();
    module_.instructions.push_back(std::move(instruction));
    module_.computations[open_].instructions.push_back(number);
    const auto name_of = [&](int other) { return module_.instructions[other].name; };
    if (here_.FindOrAdd(name_of(number), number, name_of) >= 0) module_.whole = false;
    return number;
  }

  void ResolveLateCalls() {
    if (late_calls_.empty()) return;
    for (const LateCall& call : late_calls_) {
      const int called = computations_.Find(call.name, [&](int number) { return module_.computations[number].name; });
      module_.instructions[call.instruction].calls[call.place] = called;
      if (called < 0) module_.whole = false;
    }
    // Those of one instruction stand together.
    int last = -1;
    for (const LateCall& call : late_calls_) {
      if (call.instruction != last) std::erase(module_.instructions[call.instruction].calls, -1);
      last = call.instruction;
    }
    if (!RemoveCycles(&module_)) module_.whole = false;
  }

  void IndexNames() {
    module_.by_name.AddAll(Count(module_.instructions.size()),
                           [&](int number) { return module_.instructions[number].name; });
  }

  bool OverLimits() const {
    return module_.instructions.size() >= limits_.instructions || module_.computations.size() >= limits_.instructions ||
           module_.text->bytes() + shapes_.bytes() + sizeof(int) * operand_count_ > limits_.text_bytes;
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
  NameIndex computations_;
  int open_ = -1;   // the computation that is being read
  NameIndex here_;  // its instructions by name: small, where that of the module would be far away in memory
  std::vector<std::pair<std::int64_t, int>> parameters_;  // of the open computation: number, instruction
  std::vector<LateCall> late_calls_;
  std::map<std::pair<std::string_view, std::pair<std::int64_t, int>>, int> made_frames_;
  std::string pending_;  // an instruction that goes on on the next line: texts in attributes have line feeds
  Nesting pending_nesting_;
  std::size_t operand_count_ = 0;
  std::string scratch_;
  std::vector<std::string_view> calls_;
  std::vector<int> operands_;
};

}  // namespace

int HloModule::Find(std::string_view instruction) const {
  return by_name.Find(instruction, [&](int number) { return instructions[number].name; });
}

std::string_view Attribute(std::string_view attributes, std::string_view name) {
  ListReader parts(attributes);
  std::string_view part;
  while (parts.Next(&part)) {
    const AttributePart attribute = SplitAttribute(part);
    if (attribute.key == name) return attribute.value;
  }
  return {};
}

std::vector<std::int64_t> Integers(std::string_view list) {
  std::vector<std::int64_t> integers;
  ListReader parts(WithoutBraces(list));
  std::string_view part;
  while (parts.Next(&part)) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size()) break;
    integers.push_back(number);
  }
  return integers;
}

std::string InstructionLabel(const HloModule& module, int instruction) {
  const HloInstruction& read = module.instructions[instruction];
  std::string label = std::string(read.name) + " = " + std::string(read.opcode) + "(" + std::string(read.literal);
  bool first = true;
  for (const int operand : read.operands) {
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
  std::replace(label.begin(), label.end(), '\n', ' ');  // kernels are described in several lines
  return label.substr(0, kMaxLabel);
}

SourceLine UserLine(const HloModule& module, int instruction) {
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

HloModule ReadHlo(ByteSource& source, const HloLimits& limits) { return HloReader(source, limits).Read(); }

std::vector<int> HostTransfers(const HloModule& module) {
  constexpr std::size_t kMostTransfers = 1000;
  std::vector<int> transfers;
  for (std::size_t i = 0; i < module.instructions.size() && transfers.size() < kMostTransfers; ++i) {
    const HloInstruction& instruction = module.instructions[i];
    if (instruction.opcode == "send" && Attribute(instruction.attributes, "is_host_transfer") == "true")
      transfers.push_back(static_cast<int>(i));
  }
  return transfers;
}

}  // namespace whyoom
