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

// A set of distinct names. Beyond 1024 names, keeps those with the smallest hashes and estimates the number of names
// from their density (a "k minimum values" sketch; the standard error is about 3 %).
class NameSample {
 public:
  // Replaces control characters, masks secrets and cuts long names.
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
  bool complete_ = true;
};

struct Tally {
  NameSample hosts;                      // streams by name: hosts, ranks, processes
  std::set<Where> places;                // the first hundred, see AddPlace
  std::uint64_t reports = 0;             // all reports, including repetitions by one stream
  std::uint64_t artifacts = 0;           // number of artifacts with a report
  std::uint64_t nameless_artifacts = 0;  // artifacts in which no report names its stream
  std::uint64_t replicas = 0;            // most replicas in one artifact; used if no prefix names a stream
  std::uint64_t repeats = 0;             // streams that a log counts but does not name ("[repeated 5x across cluster]")
  // Reports by a stream that had reported the failure at least 20 s earlier in the same artifact, and the time from the
  // first to the last report there. Unknown without times: 0.
  std::uint64_t restarts = 0;
  std::int64_t restart_seconds = 0;
  std::optional<Timestamp> first_time;  // of the reports whose line prefix has a time
  std::optional<Timestamp> last_time;

  void AddPlace(Where where);  // its path must be bounded (BoundedPath)
  void AddTime(const std::optional<Timestamp>& time);

  // Adds the tally of the same failure in other artifacts. Commutative and associative; an empty tally is neutral.
  void Join(const Tally& other);

  // Number of distinct streams (hosts, ranks, processes), at least 1. An estimate if `hosts` is not complete.
  std::uint64_t occurrences() const;
};

}  // namespace whyoom
