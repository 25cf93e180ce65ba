#include "facts/failure.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "rules/sha256.h"
#include "text/numbers.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {

void NameSample::Add(const std::string& name) {
  const std::string kept = CutBytes(MaskSecrets(Printable(name)), 200);
  // A hash that is the same on every machine, and uniform over 64 bits, as the estimate requires.
  by_hash_.emplace(std::stoull(Sha256Hex(kept).substr(0, 16), nullptr, 16), kept);
  Cut();
}

void NameSample::Join(const NameSample& other) {
  complete = complete && other.complete;
  by_hash_.insert(other.by_hash_.begin(), other.by_hash_.end());
  Cut();
}

void NameSample::Cut() {
  constexpr std::size_t kMost = 1024;
  for (; by_hash_.size() > kMost; complete = false) by_hash_.erase(std::prev(by_hash_.end()));
}

std::vector<std::string> NameSample::names() const {
  std::vector<std::string> names;
  for (const auto& [hash, name] : by_hash_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::uint64_t NameSample::count() const {
  if (complete || by_hash_.empty()) return by_hash_.size();
  const double largest = (static_cast<double>(std::prev(by_hash_.end())->first) + 1) / std::ldexp(1.0, 64);
  const auto estimate = static_cast<std::uint64_t>(std::min(static_cast<double>(by_hash_.size() - 1) / largest, 9e18));
  return std::max<std::uint64_t>(by_hash_.size(), estimate);
}

void Tally::AddPlace(Where where) {
  constexpr std::size_t kMost = 100;
  constexpr std::size_t kMostBytes = std::size_t{8} << 10;
  places.insert(std::move(where));
  // The place that exceeds kMostBytes stays, so that a sample of samples equals one of the whole.
  auto end = places.begin();
  for (std::size_t count = 0, bytes = 0; end != places.end() && count < kMost && bytes <= kMostBytes; ++count, ++end)
    bytes += end->artifact.path.size() + end->artifact.member.size();
  places.erase(end, places.end());
}

void Tally::AddTime(const std::optional<Timestamp>& time) {
  if (!time || time->microseconds < 0) return;  // an unset clock in a zone east of Greenwich
  if (!first_time || *time < *first_time) first_time = time;
  last_time = std::max(last_time, time);  // an unknown time is the smallest
}

void Tally::Join(const Tally& other) {
  hosts.Join(other.hosts);
  for (const Where& where : other.places) AddPlace(where);
  for (const auto count : {&Tally::reports, &Tally::artifacts, &Tally::nameless_artifacts, &Tally::repeats})
    this->*count = SaturatingAdd(this->*count, other.*count);
  replicas = std::max(replicas, other.replicas);
  AddTime(other.first_time);
  AddTime(other.last_time);
}

std::uint64_t Tally::occurrences() const {
  // A process may print its name with only some reports, so artifacts without any name count as one stream each.
  const std::uint64_t names = hosts.count();
  const std::uint64_t named = SaturatingAdd(names, nameless_artifacts);
  // One process reports for each of its replicas, so replicas count only if nothing else distinguishes streams.
  const std::uint64_t distinct = names == 0 && nameless_artifacts <= 1 ? std::max(named, replicas) : named;
  return SaturatingAdd(std::max<std::uint64_t>(1, distinct), repeats);
}

}  // namespace whyoom
