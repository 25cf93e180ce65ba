// A message cut into what stays the same from run to run and what does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct MessageToken {
  std::string text;     // as it stands in the message
  std::string pattern;  // RE2 that matches it and what may stand there in another run
  bool is_size = false;
  double bytes = 0;     // of a size
  std::string capture;  // the fact; empty: it is matched and not captured
};

// Cuts a message of one or several lines. The tokens follow each other and cover all of it.
std::vector<MessageToken> CutMessage(std::string_view message);

// Merges two messages: what differs becomes one token that matches anything.
std::vector<MessageToken> MergeMessages(const std::vector<MessageToken>& one, const std::vector<MessageToken>& other);

// Names each size by the words next to it, and the first program; see NewRules.
void NameCaptures(std::vector<MessageToken>* tokens);

// RE2 that matches the text itself.
std::string QuoteForPattern(std::string_view text);

}  // namespace whyoom
