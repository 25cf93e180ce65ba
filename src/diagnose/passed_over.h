// Failures that were found and are not told of, since their reader does not ask for them or knows them already. By id,
// so that the parts of a batch come to the same as the whole.
#pragma once

#include <cstddef>
#include <iterator>
#include <set>
#include <string>

namespace whyoom {

struct PassedOver {
  // Of each kind: those with the smallest ids are kept, which does not depend on who came first.
  static constexpr std::size_t kMost = 5000;

  std::set<std::string> ignored;  // not asked for
  std::set<std::string> known;    // by a baseline

  bool empty() const { return ignored.empty() && known.empty(); }

  // Commutative and associative. What is known to one part and not asked for in another counts as known.
  void Join(const PassedOver& other) {
    ignored.insert(other.ignored.begin(), other.ignored.end());
    known.insert(other.known.begin(), other.known.end());
    for (const std::string& id : known) ignored.erase(id);
    for (std::set<std::string>* ids : {&ignored, &known}) {
      while (ids->size() > kMost) ids->erase(std::prev(ids->end()));
    }
  }

  // Of a failure that is told of after all.
  void Erase(const std::string& id) {
    ignored.erase(id);
    known.erase(id);
  }
};

}  // namespace whyoom
