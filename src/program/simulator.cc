#include "program/simulator.h"

#include <algorithm>

#include "text/numbers.h"

namespace whyoom {

Simulator::Simulator(const Program& program, const Meaning& meaning, std::int64_t limit_bytes, const Stop* stop)
    : program_(program),
      meaning_(meaning),
      limit_(limit_bytes),
      stop_(stop),
      compiled_(program, false),
      roomy_(program, true),
      need_(compiled_.Need(compiled_.CompiledSizes())) {}

ModifiedProgram Simulator::RuledOut(std::string_view why) const {
  ModifiedProgram modified = Unmodified();
  modified.ruled_out = why;
  return modified;
}

ModifiedProgram Simulator::Combined(const ModifiedProgram& one, const ModifiedProgram& other) const {
  const auto share = [&](std::int64_t bytes, ValueId id, const ModifiedProgram& by) {
    const std::int64_t size = program_.values()[id].size;
    if (size <= 0) return bytes;
    return WholeBytes(static_cast<double>(bytes) * static_cast<double>(by.sizes[id]) / static_cast<double>(size));
  };
  ModifiedProgram both{.sizes = one.sizes, .more = one.more + other.more};
  for (const ValueId id : program_.values().ids()) both.sizes[id] = share(one.sizes[id], id, other);
  // What is made again from a value changes as the value does. If the other remedy removes the value, it removes what
  // is made again from it.
  const auto add = [&](const ModifiedProgram& from, const ModifiedProgram& by) {
    for (Buffer buffer : from.added) {
      if (!buffer.values.empty()) buffer.size = share(buffer.size, buffer.values.front(), by);
      both.added.push_back(std::move(buffer));
    }
  };
  add(one, other);
  add(other, one);
  return both;
}

Estimate Simulator::EstimateOf(const ModifiedProgram& modified) const {
  const std::int64_t tight = compiled_.Need(modified.sizes, modified.added) + modified.more;
  const std::int64_t roomy = std::max(tight, roomy_.Need(modified.sizes, modified.added) + modified.more);
  // The compiler recomputes only as much as it must to stay somewhat below the limit: it was seen to aim at 14.65 of
  // 15.75 GiB.
  constexpr double kAimsAt = 0.93;
  const auto aim = WholeBytes(kAimsAt * static_cast<double>(limit_));
  return {.left_bytes = limit_ <= 0 ? tight : std::max(tight, std::min(roomy, aim)),
          .spread_bytes = (std::min(roomy, std::max(limit_, tight)) - tight) / 2};
}

std::int64_t Simulator::CountModified(const ModifiedProgram& modified) const {
  std::int64_t count = modified.tried + static_cast<std::int64_t>(modified.added.size());
  for (const ProgramValue& value : program_.values()) count += modified.sizes[value.id] != value.size ? 1 : 0;
  return count;
}

bool Simulator::IsOpen(const ModifiedProgram& modified) const {
  if (modified.at_best.empty() || limit_ <= 0 || Fits(EstimateOf(modified))) return false;
  return Fits(EstimateOf({.sizes = modified.at_best, .more = modified.more, .added = modified.added}));
}

}  // namespace whyoom
