// Splits HLO text into instructions, lists and attributes, which are views of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace whyoom {

// Removes `part` from the start of the text. Returns false, and changes nothing, if the text begins differently.
inline bool Take(std::string_view* text, std::string_view part) {
  if (!text->starts_with(part)) return false;
  text->remove_prefix(part.size());
  return true;
}

// Removes the digits at the start of the text; nullopt if there are none. Larger numbers than 2^60 are damage and
// become 2^60, so adding two cannot overflow.
std::optional<std::int64_t> TakeNumber(std::string_view* text);

// "  ROOT %add.1 = f32[8]{0} add(%x, %y), metadata={…}"
struct InstructionLine {
  bool root = false;
  std::string_view name;        // "add.1"
  std::string_view shape;       // "f32[8]{0}"
  std::string_view opcode;      // "add"
  std::string_view operands;    // "%x, %y"
  std::string_view attributes;  // "metadata={…}"
  bool closed = true;           // false: the line ends within the operands
};

// Returns nullopt unless the line is an instruction at least up to its opening parenthesis.
std::optional<InstructionLine> SplitInstruction(std::string_view line);

// Removes "  ROOT %add.1 = ", the beginning of an instruction, from the line and sets `root` and `name`. Returns false
// if the line begins differently.
bool TakeName(std::string_view* line, InstructionLine* parts);

// Splits a list at commas or another separator: operands, elements of a tuple's shape, attributes, fields of metadata.
// Ignores separators within brackets and quotes. Strips blanks around a part and comments before it ("/*index=5*/").
class ListReader {
 public:
  explicit ListReader(std::string_view list, char separator = ',') : rest_(list), separator_(separator) {}

  std::optional<std::string_view> Next();

  std::string_view rest() const { return rest_; }  // the unread part, including the blank before it
  bool closed() const { return closed_; }          // whether all brackets and quotes read so far were closed

 private:
  std::string_view rest_;
  char separator_;
  bool closed_ = true;
};

// An attribute: "key=value".
struct AttributePart {
  std::string_view text;   // "key=value"
  std::string_view key;    // empty if there is no '='
  std::string_view value;  // "{0,1}", "kLoop", "\"Sharding\""
};
AttributePart SplitAttribute(std::string_view text);

// Removes the first and the last character if they are quotes, braces or parentheses: "\"Sharding\"" becomes
// "Sharding", "{0,1}" and "(0,1)" become "0,1".
std::string_view WithoutEnds(std::string_view value);

}  // namespace whyoom
