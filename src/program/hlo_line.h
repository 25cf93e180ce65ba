// Takes a line of HLO text apart, without understanding what it says. All parts are views of the line.
#pragma once

#include <string_view>

namespace whyoom {

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

// Whether an instruction begins on the line: "  name = ".
bool BeginsInstruction(std::string_view line);

// False where the line is no instruction up to its opening parenthesis.
bool SplitInstruction(std::string_view line, InstructionLine* parts);

// Whether a computation begins on the line; `name` and `entry` tell which. Most begin so:
// "ENTRY %main.1 (p: f32[8]) -> f32[] {".
bool BeginsComputation(std::string_view line, std::string_view* name, bool* entry);

// The parts of a list between its commas: those of an operand list, of a tuple's shape, or of attributes. Commas within
// brackets and quotes do not count. Blanks and comments ("/*index=5*/") before a part are left out.
class ListReader {
 public:
  explicit ListReader(std::string_view list) : rest_(list) {}

  bool Next(std::string_view* part);

  // What is still to come, with the blank before it. Someone else may read of it, and tell where to go on.
  std::string_view rest() const { return rest_; }
  void GoOn(std::string_view rest, bool closed) {
    rest_ = rest;
    closed_ = closed_ && closed;
  }

  // After the last part: whether all brackets and quotes were closed.
  bool closed() const { return closed_; }

 private:
  std::string_view rest_;
  bool closed_ = true;
};

// "key=value" of attributes.
struct AttributePart {
  std::string_view text;   // all of it
  std::string_view key;    // empty where there is no '='
  std::string_view value;  // "{0,1}", "kLoop", "\"Sharding\""
};
AttributePart SplitAttribute(std::string_view text);

// The fields of metadata={op_name="jit(step)/add" stack_frame_id=5}, which stand between blanks.
class MetadataReader {
 public:
  // Whether the attributes go on with metadata.
  bool Begin(std::string_view attributes);

  bool Next(AttributePart* field);

  // After the last field: what follows, and whether the metadata has an end.
  std::string_view rest() const { return rest_; }
  bool closed() const { return closed_; }

 private:
  std::string_view rest_;
  bool closed_ = false;
};

// Follows brackets and quotes through text that comes in pieces.
class Nesting {
 public:
  void Add(std::string_view text);
  bool closed() const { return depth_ <= 0 && !quoted_; }

 private:
  int depth_ = 0;
  bool quoted_ = false;
  bool escaped_ = false;
};

// Whether the values of the attribute `key` are computations that the instruction calls: "calls", "to_apply", "body".
bool CallsComputations(std::string_view key);

// "Sharding" of "\"Sharding\""; what is not quoted comes as it is.
std::string_view WithoutQuotes(std::string_view value);

// The part within the outermost braces or parentheses: "0,1" of "{0,1}". What has none comes as it is.
std::string_view WithoutBraces(std::string_view value);

}  // namespace whyoom
