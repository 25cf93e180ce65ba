#include "facts/tally.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "rules/sha256.h"
#include "text/numbers.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostNames = 1024;
constexpr std::size_t kNameBytes = std::size_t{32} << 10;
constexpr std::size_t kLongestReporter = 200;
constexpr std::size_t kLongestGroup = 300;
constexpr std::size_t kMostPlaces = 100;
constexpr std::size_t kPlaceBytes = std::size_t{8} << 10;

// A hash that is the same on every machine, and uniform over 64 bits, as the estimate requires.
std::uint64_t Hash(const std::string& name) { return std::stoull(Sha256Hex(name).substr(0, 16), nullptr, 16); }

std::size_t SizeOf(const Where& where) { return where.artifact.path.size() + where.artifact.member.size() + 32; }

// Removes elements from the end of an ordered set until at most `most` remain, and all but the last need at most
// `most_bytes` together. Keeps the element that exceeds `most_bytes`: it marks where a sample ended, which makes a
// sample of samples equal to a sample of the whole. Returns whether elements were removed.
template <typename Ordered, typename Size>
bool CutTail(std::size_t most, std::size_t most_bytes, const Size& size, Ordered* elements, std::size_t* bytes) {
  bool cut = false;
  while (!elements->empty()) {
    const auto last = std::prev(elements->end());
    if (elements->size() <= most && *bytes - size(*last) <= most_bytes) break;
    *bytes -= size(*last);
    elements->erase(last);
    cut = true;
  }
  return cut;
}

}  // namespace

void NameSample::Add(const std::string& name) {
  std::string kept = BoundedName(MaskSecrets(Printable(name)), kLongestReporter);
  const std::size_t size = kept.size();
  if (by_hash_.emplace(Hash(kept), std::move(kept)).second) bytes_ += size;
  Cut();
}

void NameSample::Join(const NameSample& other) {
  complete_ = complete_ && other.complete_;
  for (const auto& [hash, name] : other.by_hash_) {
    if (by_hash_.emplace(hash, name).second) bytes_ += name.size();
  }
  Cut();
}

void NameSample::Cut() {
  const auto size = [](const auto& entry) { return entry.second.size(); };
  if (CutTail(kMostNames, kNameBytes, size, &by_hash_, &bytes_)) complete_ = false;
}

std::vector<std::string> NameSample::names() const {
  std::vector<std::string> names;
  for (const auto& [hash, name] : by_hash_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

std::uint64_t NameSample::count() const {
  if (complete_ || by_hash_.empty()) return by_hash_.size();
  const double largest = (static_cast<double>(std::prev(by_hash_.end())->first) + 1) / std::ldexp(1.0, 64);
  const double estimate = static_cast<double>(by_hash_.size() - 1) / largest;
  constexpr double kMost = 9.0e18;
  return std::max<std::uint64_t>(by_hash_.size(), static_cast<std::uint64_t>(std::llround(std::min(estimate, kMost))));
}

void PlaceSample::Add(Where where) {
  bytes_ += SizeOf(where);
  places_.insert(std::move(where));
  CutTail(kMostPlaces, kPlaceBytes, SizeOf, &places_, &bytes_);
}

void PlaceSample::Join(const PlaceSample& other) {
  for (const Where& where : other.places_) Add(where);
}

void GroupCounts::Add(const std::string& group, const std::string& value, std::uint64_t count) {
  Counts& counts = groups_[group];
  std::uint64_t& sum = counts[value];
  sum = SaturatingAdd(sum, count);
  // A value that is cut from a part is also cut from the whole, so the order of joining does not matter.
  constexpr std::size_t kMostValues = 1000;
  if (counts.size() - counts.count(kMoreValues) <= kMostValues) return;
  auto last = std::prev(counts.end());
  if (last->first == kMoreValues) --last;
  std::uint64_t& others = counts[kMoreValues];
  others = SaturatingAdd(others, last->second);
  counts.erase(last);
}

void GroupCounts::Join(const GroupCounts& other) {
  for (const auto& [group, counts] : other.groups_) {
    for (const auto& [value, count] : counts) Add(group, value, count);
  }
}

void GroupCounts::Restore(const std::map<std::string, Counts>& groups) {
  const auto shown = [&](const std::string& text) { return CutBytes(MaskSecrets(Printable(text)), kLongestGroup); };
  for (const auto& [group, counts] : groups) {
    for (const auto& [value, count] : counts) Add(shown(group), shown(value), count);
  }
}

void Tally::AddTime(const std::optional<Timestamp>& time) {
  if (!time) return;
  if (!first_time || *time < *first_time) first_time = time;
  if (!last_time || *last_time < *time) last_time = time;
}

void Tally::Join(const Tally& other) {
  hosts.Join(other.hosts);
  places.Join(other.places);
  reports = SaturatingAdd(reports, other.reports);
  artifacts = SaturatingAdd(artifacts, other.artifacts);
  nameless_artifacts = SaturatingAdd(nameless_artifacts, other.nameless_artifacts);
  replicas = std::max(replicas, other.replicas);
  repeats = SaturatingAdd(repeats, other.repeats);
  restarts = SaturatingAdd(restarts, other.restarts);
  restart_seconds += other.restart_seconds;
  groups.Join(other.groups);
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
