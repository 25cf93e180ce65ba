#include "program/hlo_tables.h"

#include <optional>
#include <utility>

#include "program/hlo_line.h"

namespace whyoom {
namespace {

constexpr int kDeepest = 16;  // tuples in tuples; XLA's own are three deep

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
  if (text.empty() || depth > kDeepest) return 0;
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

bool RemoveCycles(HloModule* module) {
  enum class State : char { kNew, kOpen, kDone };
  struct Step {
    int computation;
    std::size_t instruction = 0;  // place in the computation
    std::size_t call = 0;         // place in the instruction's calls
  };
  std::vector<State> states(module->computations.size(), State::kNew);
  bool clean = true;
  for (std::size_t first = 0; first < states.size(); ++first) {
    std::vector<Step> way;
    if (states[first] == State::kNew) way.push_back({static_cast<int>(first)});
    states[first] = way.empty() ? states[first] : State::kOpen;
    while (!way.empty()) {
      Step& step = way.back();
      const auto& instructions = module->computations[static_cast<std::size_t>(step.computation)].instructions;
      if (step.instruction >= instructions.size()) {
        states[static_cast<std::size_t>(step.computation)] = State::kDone;
        way.pop_back();
        continue;
      }
      std::vector<int>& calls = module->instructions[static_cast<std::size_t>(instructions[step.instruction])].calls;
      if (step.call >= calls.size()) {
        ++step.instruction;
        step.call = 0;
        continue;
      }
      const int called = calls[step.call];
      State& state = states[static_cast<std::size_t>(called)];
      if (state == State::kOpen) {
        calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(step.call));
        clean = false;
        continue;
      }
      ++step.call;
      if (state == State::kDone) continue;
      state = State::kOpen;
      way.push_back({called});
    }
  }
  return clean;
}

}  // namespace whyoom
