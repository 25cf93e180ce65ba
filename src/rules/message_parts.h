// What of a message a rule may look for: where it begins behind an exception's class and the like, and its sentences.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rules/message_cut.h"

namespace whyoom {

// As a session joins lines: each run of white space one blank, none at the beginning.
std::string WithSingleBlanks(std::string_view text);

class MessageParts {
 public:
  // Pieces [begin, end).
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  explicit MessageParts(const std::vector<std::string>& lines);

  std::vector<MessagePiece>& pieces() { return pieces_; }
  const std::vector<MessagePiece>& pieces() const { return pieces_; }

  // The lines as a session joins them: each run of white space one blank.
  std::string Joined() const;

  // Where what it says begins, in bytes: behind stamps, levels, sources, classes of exceptions and status words.
  std::size_t core() const { return core_; }

  // "E1300: CompileTimeSharedMemOom", or what of that stands before what it says; and the name alone.
  const std::string& tag() const { return tag_; }
  const std::string& tag_name() const { return tag_name_; }
  bool is_of_compile() const;

  // What a head may be made of, the least first: the first sentences up to a figure; one more; both with what stands
  // before them.
  std::vector<Span> HeadSpans() const;

  // The sentences behind the piece `from` that hold a named capture and words to find it by.
  std::vector<Span> ClausesBehind(std::size_t from) const;

  // The first words of the span, which do not say what all of it says.
  std::string NearMiss(const Span& span) const;

 private:
  void FindCore();
  std::size_t EndOfClause(std::size_t begin) const;
  Span Trimmed(Span span) const;
  std::size_t Letters(const Span& span) const;
  bool HasCapture(const Span& span, bool of_size) const;

  std::string text_;
  std::vector<MessagePiece> pieces_;
  std::size_t core_ = 0;
  std::string tag_;
  std::string tag_name_;
};

}  // namespace whyoom
