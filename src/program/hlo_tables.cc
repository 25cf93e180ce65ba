#include "program/hlo_tables.h"

#include <charconv>
#include <optional>
#include <utility>

#include "program/hlo_line.h"

namespace whyoom {
namespace {

constexpr int kDeepestTable = 16;  // tuples in tuples; XLA's own are three deep

}  // namespace

std::string_view TextPool::Keep(std::string_view text) {
  if (text.empty()) return {};
  const int next = static_cast<int>(texts_.size());
  const int known = index_.FindOrAdd(text, next, [&](int number) { return texts_[number]; });
  if (known >= 0) return texts_[known];
  texts_.push_back(arena_.Keep(text));
  return texts_.back();
}

ShapeTable::ShapeTable(TextPool& texts, std::vector<HloShape>* shapes) : pool_(texts), shapes_(shapes) {
  shapes_->resize(1);
  texts_.resize(1);
}

int ShapeTable::Number(std::string_view text, int depth) {
  if (text.empty() || depth > kDeepestTable) return 0;
  const auto name_of = [&](int number) { return texts_[number]; };
  const int known = index_.Find(text, name_of);
  if (known >= 0) return known;
  HloShape shape = Parse(text, depth);  // adds the elements first
  if (!shape.is_tuple && shape.array.dtype.empty()) return 0;
  const int number = static_cast<int>(shapes_->size());
  bytes_ += sizeof(HloShape) + 64 + 4 * shape.elements.size();
  shapes_->push_back(std::move(shape));
  texts_.push_back(pool_.Keep(text));
  index_.FindOrAdd(texts_.back(), number, name_of);
  return number;
}

HloShape ShapeTable::Parse(std::string_view text, int depth) {
  HloShape shape;
  if (text.front() != '(') {
    std::optional<ArrayShape> array = ParseArrayShape(text);
    if (array && ElementBits(array->dtype)) shape.array = *std::move(array);
    return shape;
  }
  shape.is_tuple = true;
  ListReader elements(WithoutBraces(text));
  std::string_view element;
  while (elements.Next(&element)) shape.elements.push_back(Number(element, depth + 1));
  return shape;
}

namespace {

// Goes through all calls from a computation on, each computation once. A call to one that is still being gone through
// would close a circle; it becomes -1.
class CallWalk {
 public:
  explicit CallWalk(HloModule* module) : module_(*module), states_(module->computations.size(), State::kNew) {}

  void From(int computation) {
    Enter(computation);
    while (!way_.empty()) GoOn();
  }

  bool found_circle() const { return found_circle_; }

 private:
  enum class State : char { kNew, kOpen, kDone };
  struct Step {
    int computation;
    std::size_t instruction = 0;  // place in the computation
    std::size_t call = 0;         // place among the instruction's calls
  };

  State& StateOf(int computation) { return states_[computation]; }

  void Enter(int computation) {
    if (StateOf(computation) != State::kNew) return;
    StateOf(computation) = State::kOpen;
    way_.push_back({computation});
  }

  void GoOn() {
    Step& step = way_.back();
    const auto& instructions = module_.computations[step.computation].instructions;
    if (step.instruction >= instructions.size()) {
      StateOf(step.computation) = State::kDone;
      way_.pop_back();
      return;
    }
    std::vector<int>& calls = module_.instructions[instructions[step.instruction]].calls;
    if (step.call >= calls.size()) {
      ++step.instruction;
      step.call = 0;
      return;
    }
    int& called = calls[step.call++];
    if (StateOf(called) == State::kOpen) {
      called = -1;
      found_circle_ = true;
    } else {
      Enter(called);
    }
  }

  HloModule& module_;
  std::vector<State> states_;
  std::vector<Step> way_;
  bool found_circle_ = false;
};

}  // namespace

bool RemoveCycles(HloModule* module) {
  CallWalk walk(module);
  for (std::size_t i = 0; i < module->computations.size(); ++i) walk.From(static_cast<int>(i));
  if (!walk.found_circle()) return true;
  for (HloInstruction& instruction : module->instructions) std::erase(instruction.calls, -1);
  return false;
}

namespace {

constexpr std::size_t kMaxRows = 500000;
constexpr std::size_t kMaxGap = 1000;  // rows are numbered without gaps; damage must not ask for memory

std::optional<int> TakeFrameNumber(std::string_view* text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text->remove_prefix(end - text->data());
  return number;
}

// The number after "key=", 0 where there is none.
int NumberOf(std::string_view row, std::string_view key) {
  const std::size_t at = row.find(key);
  if (at == std::string_view::npos) return 0;
  row.remove_prefix(at + key.size());
  return TakeFrameNumber(&row).value_or(0);
}

template <class Row>
bool Set(int id, const Row& row, std::vector<Row>* rows) {
  const auto at = static_cast<std::size_t>(id);
  if (at >= kMaxRows || at > rows->size() + kMaxGap) return false;
  if (at >= rows->size()) rows->resize(at + 1);
  (*rows)[at] = row;
  return true;
}

template <class Row>
Row Get(const std::vector<Row>& rows, int id) {
  return std::cmp_less(id, rows.size()) ? rows[id] : Row();
}

std::optional<std::string_view> Quoted(std::string_view row) {
  if (row.size() < 2 || row.front() != '"' || row.back() != '"') return std::nullopt;
  return row.substr(1, row.size() - 2);
}

}  // namespace

bool SourceTables::Read(std::string_view line) {
  if (line.empty()) return true;
  const Table before = table_;
  if (line == "FileNames") table_ = Table::kFiles;
  if (line == "FunctionNames") table_ = Table::kFunctions;
  if (line == "FileLocations") table_ = Table::kLocations;
  if (line == "StackFrames") table_ = Table::kFrames;
  if (table_ != before) return true;
  if (table_ == Table::kNone || line[0] < '0' || line[0] > '9') return false;
  const std::optional<int> id = TakeFrameNumber(&line);
  if (!id || !line.starts_with(' ') || !ReadRow(*id, line.substr(1))) whole_ = false;
  return true;
}

bool SourceTables::ReadRow(int id, std::string_view row) {
  if (table_ == Table::kFiles || table_ == Table::kFunctions) {
    const std::optional<std::string_view> name = Quoted(row);
    return name && Set(id, arena_.Keep(*name), table_ == Table::kFiles ? &files_ : &functions_);
  }
  if (!row.starts_with('{') || !row.ends_with('}')) return false;
  if (table_ == Table::kLocations) {
    const Location location = {NumberOf(row, "file_name_id="), NumberOf(row, "function_name_id="),
                               NumberOf(row, " line=")};
    return Set(id, location, &locations_);
  }
  const Frame frame = {NumberOf(row, "file_location_id="), NumberOf(row, "parent_frame_id=")};
  // XLA prints parents one too high: no frame calls itself.
  if (frame.parent == id) parents_are_high_ = true;
  return Set(id, frame, &frames_);
}

std::vector<SourceFrame> SourceTables::Frames() const {
  std::vector<SourceFrame> frames(1);
  frames.resize(std::max<std::size_t>(1, frames_.size()));
  for (std::size_t id = 1; id < frames_.size(); ++id) {
    const Location location = Get(locations_, frames_[id].location);
    const int parent = frames_[id].parent - (parents_are_high_ ? 1 : 0);
    frames[id].file = Get(files_, location.file);
    frames[id].function = Get(functions_, location.function);
    frames[id].line = location.line;
    frames[id].parent = parent > 0 && std::cmp_less(parent, id) ? parent : 0;
  }
  return frames;
}

}  // namespace whyoom
