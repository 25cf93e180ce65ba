#compdef whyoom
# zsh completion for whyoom
_whyoom() {
  local program=${(Q)words[1]} fill where entry
  program=${program/#\~/$HOME}
  (( $+commands[$program] )) || [[ $program == */* && -x $program ]] || program=whyoom

  local -a answer described
  answer=("${(@f)$("$program" __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  fill=${answer[1]%%$'\t'*} where=${answer[1]#*$'\t'}
  for entry in "${(@)answer[2,-1]}"; do
    described+=("${${entry%%$'\t'*}//:/\\:}:${entry#*$'\t'}")
  done
  local found=1
  (( $#described )) && _describe -t words 'whyoom' described && found=0

  case $fill in
    files) compset -P "${(b)where}"; _files && found=0 ;;
    folders) compset -P "${(b)where}"; _path_files -/ && found=0 ;;
    job)
      words=("${(@)words[where+2,-1]}")
      (( CURRENT -= where + 1 ))
      _normal && found=0
      ;;
  esac
  return found
}
if [[ ${funcstack[1]} == _whyoom ]]; then
  _whyoom "$@"
else
  compdef _whyoom whyoom
fi
