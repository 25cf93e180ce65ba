// Sentences with holes, as a reader without a log sees them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "rules/expression_node.h"

namespace whyoom {
namespace internal {
namespace {

using Words = Expression::Words;

// "output_bytes" gives "output bytes".
std::string Spoken(std::string_view name) {
  std::string spoken(name);
  std::replace_if(
      spoken.begin(), spoken.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
  return spoken;
}

std::string Written(const Value& value) {
  if (const std::string* text = AsText(value)) return *text;
  if (const std::optional<bool> truth = AsBool(value)) return *truth ? "true" : "false";
  std::string number = std::to_string(AsNumber(value).value_or(0));
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

void Add(const Words& more, Words* to) {
  for (const std::string& choice : more.choices) {
    if (std::find(to->choices.begin(), to->choices.end(), choice) == to->choices.end()) to->choices.push_back(choice);
  }
  to->all_texts = to->all_texts && more.all_texts;
}

std::string Joined(const std::vector<std::string>& choices) {
  std::string joined;
  for (const std::string& choice : choices) joined += (joined.empty() ? "" : " or ") + choice;
  return joined;
}

class Speaker {
 public:
  static Words Say(const ExpressionNode& node) {
    switch (node.kind) {
      case NodeKind::kLiteral:
        if (!IsKnown(node.literal)) return {};
        return {{Written(node.literal)}, AsText(node.literal) != nullptr};
      case NodeKind::kName:
      case NodeKind::kTerm:
        return Plain(Spoken(node.name));
      case NodeKind::kOr:
        return Plain(Chain(node, " or "));
      case NodeKind::kAnd:
        return Plain(Chain(node, " and "));
      case NodeKind::kNot:
        return Plain("not " + Operand(node, 0));
      case NodeKind::kCompare:
        return Plain(Operand(node, 0) + " against " + Operand(node, 1));
      case NodeKind::kSum:
      case NodeKind::kProduct:
        return Plain(Arithmetic(node));
      case NodeKind::kNegate:
        return Plain("-" + Operand(node, 0));
      case NodeKind::kCall:
        return Call(node);
    }
    return {};
  }

 private:
  static Words Plain(std::string text) { return {{std::move(text)}, false}; }

  static std::string Operand(const ExpressionNode& node, std::size_t index) {
    return Joined(Say(*node.operands[index]).choices);
  }

  static std::string Chain(const ExpressionNode& node, std::string_view between) {
    std::string chain;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (i > 0) chain += between;
      chain += Operand(node, i);
    }
    return chain;
  }

  static std::string Arithmetic(const ExpressionNode& node) {
    std::string text = Operand(node, 0);
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
      const char sign = node.ops[i] == '*' ? 'x' : node.ops[i];
      text += std::string(" ") + sign + " " + Operand(node, i);
    }
    return text;
  }

  static Words Call(const ExpressionNode& node) {
    switch (node.function) {
      case Function::kIf: {
        Words words = Say(*node.operands[1]);
        Add(Say(*node.operands[2]), &words);
        return words;
      }
      case Function::kDefault: {
        Words words = Say(*node.operands[0]);
        const Words otherwise = Say(*node.operands[1]);
        if (otherwise.all_texts) Add(otherwise, &words);  // a number says nothing by itself
        return words;
      }
      case Function::kFloor:
      case Function::kCeil:
      case Function::kRound:
      case Function::kAbs:
      case Function::kRounding:
      case Function::kWithin:
      case Function::kKnown:
        return Plain(Operand(node, 0));
      case Function::kMin:
        return Plain("the smaller of " + Chain(node, " and "));
      case Function::kMax:
        return Plain("the larger of " + Chain(node, " and "));
      case Function::kMatches:
      case Function::kContains:
        return Plain(Operand(node, 0));
      case Function::kCountOf:
        return Plain("how many");
      case Function::kSumOf:
        return Plain(Operand(node, 0) + " of all of them");
      case Function::kMaxOf:
        return Plain("largest " + Operand(node, 0));
      case Function::kFirstOf:
        return Plain(Operand(node, 0));
      case Function::kAnyOf:
      case Function::kAllOf:
        return Plain("whether " + Operand(node, 0));
    }
    return {};
  }
};

}  // namespace
}  // namespace internal

Expression::Words Expression::ToWords() const {
  return root() == nullptr ? Words() : internal::Speaker::Say(*root()->tree);
}

std::string Template::Outline() const {
  std::string text;
  for (const Piece& piece : pieces()) {
    if (!piece.is_hole) {
      text += piece.text;
      continue;
    }
    Expression::Words words = piece.hole.ToWords();
    const bool some = words.all_texts && std::erase(words.choices, "") > 0;
    if (words.all_texts && words.choices.size() == 1) {
      text += words.choices[0];  // said or not
    } else if (!some || !words.choices.empty()) {
      text += "‹" + internal::Joined(words.choices) + (piece.format == "percent" ? " in %›" : "›");
    }
  }
  return text;
}

}  // namespace whyoom
