// Counts the reports of one failure: streams, places and times. Uses bounded memory. Joining tallies in any order and
// grouping gives the same result, because a sample keeps the smallest elements in a fixed order.
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

// A set of distinct names. Beyond 1024 names or 32 KiB, keeps those with the smallest hashes and estimates the number
// of names from their density (a "k minimum values" sketch; the standard error is about 3 % if it keeps 1024 names).
class NameSample {
 public:
  // Replaces control characters, masks secrets and shortens long names.
  void Add(const std::string& name);
  void Join(const NameSample& other);

  // Marks the sample as incomplete. Used for samples that are read from a record.
  void SetIncomplete() { complete_ = false; }
  bool complete() const { return complete_; }

  std::vector<std::string> names() const;  // sorted; all names, or a sample
  std::uint64_t count() const;             // exact if complete, else estimated

 private:
  void Cut();

  std::map<std::uint64_t, std::string> by_hash_;
  std::size_t bytes_ = 0;
  bool complete_ = true;
};

// The first places of reports by path, member and offset, with duplicates. Paths must be bounded (BoundedPath).
class PlaceSample {
 public:
  void Add(Where where);
  void Join(const PlaceSample& other);
  const std::multiset<Where, IsEarlier>& all() const { return places_; }

 private:
  std::multiset<Where, IsEarlier> places_;
  std::size_t bytes_ = 0;
};

// How many streams reported a failure, by group (kWeek, kAttempts) and value.
// At most 1000 values of a group, the first in order; the others count together as kMoreValues.
class GroupCounts {
 public:
  using Counts = std::map<std::string, std::uint64_t>;  // by value

  void Add(const std::string& group, const std::string& value, std::uint64_t count);
  void Join(const GroupCounts& other);
  // Adds what all() returned, perhaps in another process; the texts may be hostile.
  void Restore(const std::map<std::string, Counts>& groups);
  const std::map<std::string, Counts>& all() const { return groups_; }

 private:
  std::map<std::string, Counts> groups_;
};

inline constexpr const char* kMoreValues = "(more)";
inline constexpr const char* kWeek = "week";          // the Monday of the week of the report
inline constexpr const char* kAttempts = "attempts";  // of jobs: "logs/job-17.log #2"; counts inputs

struct Tally {
  NameSample hosts;  // streams by name: hosts, ranks, processes
  PlaceSample places;
  std::uint64_t reports = 0;             // all reports, including repetitions by one stream
  std::uint64_t artifacts = 0;           // number of artifacts with a report
  std::uint64_t nameless_artifacts = 0;  // artifacts in which no report names its stream
  std::uint64_t replicas = 0;            // most replicas in one artifact; used if no prefix names a stream
  std::uint64_t repeats = 0;             // streams that a log counts but does not name ("[repeated 5x across cluster]")
  // Reports by a stream that had reported the failure at least 20 s earlier in the same artifact, and the time from the
  // first to the last report there. Unknown without times: 0.
  std::uint64_t restarts = 0;
  std::int64_t restart_seconds = 0;
  GroupCounts groups;
  std::optional<Timestamp> first_time;  // of the reports whose line prefix has a time
  std::optional<Timestamp> last_time;

  void AddTime(const std::optional<Timestamp>& time);

  // Adds the tally of the same failure in other artifacts. Commutative and associative; an empty tally is neutral.
  void Join(const Tally& other);

  // Number of distinct streams (hosts, ranks, processes), at least 1. An estimate if `hosts` is not complete.
  std::uint64_t occurrences() const;
};

}  // namespace whyoom
