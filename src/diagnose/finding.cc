#include "diagnose/finding.h"

#include <algorithm>

namespace whyoom {

std::uint64_t Finding::occurrences() const {
  // The process that reports under a name often repeats itself without it; only a log without any name counts on its
  // own.
  const auto nameless = static_cast<std::uint64_t>(
      std::count_if(silent_artifacts.begin(), silent_artifacts.end(),
                    [&](const std::string& artifact) { return !naming_artifacts.contains(artifact); }));
  const std::uint64_t named = hosts.size() + nameless;
  // Replicas count where nothing else tells reporters apart: one process reports for each of its replicas.
  const std::uint64_t told_apart =
      hosts.empty() && nameless <= 1 ? std::max<std::uint64_t>(named, replicas.size()) : named;
  return std::max<std::uint64_t>(1, told_apart) + static_cast<std::uint64_t>(std::max(0, repeats));
}

}  // namespace whyoom
