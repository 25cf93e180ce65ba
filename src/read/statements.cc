#include "read/statements.h"

#include <algorithm>

#include "facts/derive.h"
#include "rules/expression.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

class FactScope : public Scope {
 public:
  explicit FactScope(const Evidence& facts) : facts_(facts) {}
  Value Get(std::string_view name) const override { return facts_.Get(name); }

 private:
  const Evidence& facts_;
};

constexpr std::size_t kShortestText = 24;  // anything shorter could be part of something else

}  // namespace

std::optional<CompiledProgram> ReadStatement(const ContextFinder::Found& found, const JoinedLines& joined,
                                             const std::optional<Timestamp>& time) {
  CompiledProgram program;
  program.basis = "log";
  const Place place = joined.PlaceOf(found.match.begin);
  program.where.line = place.line;
  program.where.last_line = joined.PlaceOf(found.match.end > 0 ? found.match.end - 1 : 0).line;
  program.where.offset = place.offset;
  for (const Capture& capture : found.match.captures) {
    if (joined.IsOpen(capture.end)) return std::nullopt;
    program.facts.Set(capture.name, capture.value, joined.PlaceOf(capture.begin));
  }
  AddDerived(found.context->derived, FactScope(program.facts), &program.facts);
  const double need = program.facts.Number("need_bytes").value_or(0);
  if (!(need > 0) || need > kMostBytes) return std::nullopt;
  program.first_time = program.last_time = time;
  Identify(&program);
  return program;
}

void Statements::Add(CompiledProgram program, std::string text) {
  const bool known = std::any_of(said_.begin(), said_.end(), [&](const Said& said) { return said.text == text; });
  if (!known && text.size() >= kShortestText) {
    Said said{std::move(text), program, 0};
    if (said_.size() < kRemembered) {
      said_.push_back(std::move(said));
    } else {
      Settle(&said_[oldest_]);
      said_[oldest_] = std::move(said);
      oldest_ = (oldest_ + 1) % kRemembered;
    }
  }
  programs_.Add(std::move(program));
}

std::optional<std::pair<std::size_t, std::size_t>> Statements::Again(std::string_view line) const {
  for (const Said& said : said_) {
    const std::size_t at = line.find(said.text);
    if (at != std::string_view::npos) return std::pair(at, at + said.text.size());
  }
  return std::nullopt;
}

void Statements::Count(std::string_view text) {
  for (Said& said : said_) {
    if (said.text != text) continue;
    ++said.again;
    return;
  }
}

// Of the repetitions it is not known when they were.
void Statements::Settle(Said* said) {
  if (said->again == 0) return;
  CompiledProgram program = std::move(said->program);
  program.occurrences = said->again;
  program.first_time.reset();
  program.last_time.reset();
  programs_.Add(std::move(program));
}

ProgramTable Statements::Take() {
  for (Said& said : said_) Settle(&said);
  said_.clear();
  return std::move(programs_);
}

}  // namespace whyoom
