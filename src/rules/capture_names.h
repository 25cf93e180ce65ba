// Names for what a message's pattern captures, from the words that stand next to it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rules/message_cut.h"

namespace whyoom {

// What a size is in its message. The names that follow from it are used_bytes, needed_bytes, request_bytes,
// limit_bytes, free_bytes and excess_bytes.
enum class SizeRole { kNone, kUsed, kNeeded, kRequest, kLimit, kFree, kExcess };

struct NamedSize {
  std::string fact;
  SizeRole role = SizeRole::kNone;
  double bytes = 0;
};

struct CaptureNaming {
  // Whether a fact must not have this name, since it means something else.
  std::function<bool(const std::string&)> is_taken;
  // The facts, best first, that say what `role` does where the message is one more wording of a known failure; may be
  // null.
  std::function<std::vector<std::string>(SizeRole)> known_facts;
};

// Gives each capture a name of its own; a figure or name that has none by its neighbours, and such beyond twelve,
// loses its capture. Numbers of seven digits or more that play a part (a limit, a request) are bytes.
std::vector<NamedSize> NameCaptures(const CaptureNaming& naming, std::vector<MessagePiece>* pieces);

}  // namespace whyoom
