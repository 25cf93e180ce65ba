// How often one failure was reported, by whom, where and when. Takes bounded space, and joins with the tallies of other
// artifacts in any order and grouping to the same result: what a sample keeps is the smallest by an order that has
// nothing to do with who came first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "facts/where.h"
#include "text/timestamp.h"

namespace whyoom {

// Distinct names. Beyond a thousand or so it keeps those whose hashes are smallest, and estimates how many there are
// from how dense those lie (a "k minimum values" sketch; the standard error is about 3 %).
class NameSample {
 public:
  // Control characters are replaced and long names shortened.
  void Add(const std::string& name);
  void Join(const NameSample& other);

  // Says that there are more names than were added; for a sample that was read back.
  void SetIncomplete() { complete_ = false; }
  bool complete() const { return complete_; }

  std::vector<std::string> names() const;  // in order; all of them, or a sample
  std::uint64_t count() const;             // exact where complete, else estimated

 private:
  void Cut();

  std::map<std::uint64_t, std::string> by_hash_;
  std::size_t bytes_ = 0;
  bool complete_ = true;
};

// Places of reports, the first by path, member and offset. Equal ones count each. Paths are to be bounded (where.h).
class PlaceSample {
 public:
  void Add(Where where);
  void Join(const PlaceSample& other);
  const std::multiset<Where, IsEarlier>& all() const { return places_; }

 private:
  std::multiset<Where, IsEarlier> places_;
  std::size_t bytes_ = 0;
};

struct Tally {
  NameSample hosts;  // reporters by name: hosts, ranks, processes
  PlaceSample places;
  std::uint64_t reports = 0;             // all of them, also one reporter's repetitions
  std::uint64_t artifacts = 0;           // with a report
  std::uint64_t nameless_artifacts = 0;  // those in which no report names its reporter
  std::uint64_t replicas = 0;  // told apart by number in the artifact that has most; where no prefix names a reporter
  std::uint64_t repeats = 0;   // reporters that are only counted ("[repeated 5x across cluster]")
  std::optional<Timestamp> first_time;  // of its reports, as far as prefixes carry one
  std::optional<Timestamp> last_time;

  void AddTime(const std::optional<Timestamp>& time);

  // Adds another artifact's (or many artifacts') tally of the same failure. Commutative and associative; an empty tally
  // is neutral.
  void Join(const Tally& other);

  // Distinct reporters: hosts, ranks, processes; at least 1. An estimate where `hosts` is not complete.
  std::uint64_t occurrences() const;
};

}  // namespace whyoom
