#include "program/hlo_tables.h"

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
  const int known = index_.FindOrAdd(text, next, [&](int number) { return texts_[static_cast<std::size_t>(number)]; });
  if (known >= 0) return texts_[static_cast<std::size_t>(known)];
  texts_.push_back(arena_.Keep(text));
  return texts_.back();
}

ShapeTable::ShapeTable(TextPool& texts, std::vector<HloShape>* shapes) : pool_(texts), shapes_(shapes) {
  shapes_->resize(1);
  texts_.resize(1);
}

int ShapeTable::Number(std::string_view text, int depth) {
  if (text.empty() || depth > kDeepestTable) return 0;
  const auto name_of = [&](int number) { return texts_[static_cast<std::size_t>(number)]; };
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

  State& StateOf(int computation) { return states_[static_cast<std::size_t>(computation)]; }

  void Enter(int computation) {
    if (StateOf(computation) != State::kNew) return;
    StateOf(computation) = State::kOpen;
    way_.push_back({computation});
  }

  void GoOn() {
    Step& step = way_.back();
    const auto& instructions = module_.computations[static_cast<std::size_t>(step.computation)].instructions;
    if (step.instruction >= instructions.size()) {
      StateOf(step.computation) = State::kDone;
      way_.pop_back();
      return;
    }
    std::vector<int>& calls = module_.instructions[static_cast<std::size_t>(instructions[step.instruction])].calls;
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

}  // namespace whyoom
