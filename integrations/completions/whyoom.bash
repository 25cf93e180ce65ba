# Completes the options in `whyoom --help`, and files. Needs bash-completion, which has the function for it.
if declare -F _comp_complete_longopt >/dev/null; then
  complete -F _comp_complete_longopt whyoom
else
  complete -F _longopt whyoom
fi
