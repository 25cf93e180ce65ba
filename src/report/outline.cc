#include "report/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace whyoom {
namespace {

// The possible results of an expression in words, for a reader who does not know the language.
struct Meanings {
  std::vector<std::string> choices;  // distinct; empty if the result is always unknown
  bool all_texts = true;             // all choices are literal texts of the rule data
};

void AddTo(const Meanings& more, Meanings* to) {
  for (const std::string& choice : more.choices) {
    if (std::find(to->choices.begin(), to->choices.end(), choice) == to->choices.end()) to->choices.push_back(choice);
  }
  to->all_texts = to->all_texts && more.all_texts;
}

std::string JoinedBy(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

Meanings Describe(const ExpressionNode& node);

// Describes an operation that is not a choice: by all operands, or by the first one of a condition or a function.
std::string DescribeOperation(const ExpressionNode& node) {
  const bool is_sum = node.operation == Operation::kSum;
  if (!is_sum && node.operation != Operation::kProduct) return JoinedBy(Describe(node.operands[0]).choices, " or ");
  std::string all;
  for (const ExpressionNode& operand : node.operands) {
    const std::string text = JoinedBy(Describe(operand).choices, " or ");
    all += all.empty() ? text : fmt::format(" {} {}", is_sum || operand.sign == '/' ? operand.sign : 'x', text);
  }
  return all;
}

Meanings Describe(const ExpressionNode& node) {
  switch (node.operation) {
    case Operation::kLiteral:
      return IsKnown(node.value) ? Meanings{{PlainText(node.value)}, AsText(node.value) != nullptr} : Meanings();
    case Operation::kName:
    case Operation::kTerm: {
      std::string spoken = PlainText(node.value);  // "output_bytes" becomes "output bytes"
      std::replace_if(
          spoken.begin(), spoken.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
      return {{spoken}, false};
    }
    case Operation::kIf:
    case Operation::kDefault: {
      const bool is_if = node.operation == Operation::kIf;
      Meanings words = Describe(node.operands[is_if ? 1 : 0]);
      const Meanings other = Describe(node.operands.back());
      if (is_if || other.all_texts) AddTo(other, &words);  // a default number alone means nothing
      return words;
    }
    case Operation::kCountOf:
      return {{"number"}, false};
    default:
      return {{DescribeOperation(node)}, false};
  }
}

}  // namespace

std::string Outline(const Template& text) {
  std::string outline;
  for (const TemplatePiece& piece : text.parsed()) {
    outline += piece.text;
    if (!piece.is_placeholder) continue;
    Meanings words = Describe(piece.value.parsed().root);
    const bool some = words.all_texts && std::erase(words.choices, "") > 0;
    if (words.all_texts && words.choices.size() == 1) {
      outline += words.choices[0];  // a text that may be empty
    } else if (!some || !words.choices.empty()) {
      outline += "‹" + JoinedBy(words.choices, " or ") + (piece.format == "percent" ? " in %›" : "›");
    }
  }
  return outline;
}

}  // namespace whyoom
