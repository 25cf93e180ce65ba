# Installs the program, its manual page (if help2man is available), completions and documentation. A Python wheel
# (SKBUILD) contains the same files, in folders that pip copies into the environment.
if(SKBUILD)
  set(CMAKE_INSTALL_BINDIR ${SKBUILD_SCRIPTS_DIR})
  set(CMAKE_INSTALL_DATADIR ${SKBUILD_DATA_DIR}/share)
endif()
include(GNUInstallDirs)

set(WHYOOM_GENERATED ${CMAKE_BINARY_DIR}/generated)
set(WHYOOM_PRINTED)

configure_file(packaging/changelog.in ${WHYOOM_GENERATED}/changelog @ONLY)

find_program(WHYOOM_HELP2MAN help2man)
set(WHYOOM_PACKED changelog)
if(WHYOOM_HELP2MAN AND NOT CMAKE_CROSSCOMPILING)
  add_custom_command(
    OUTPUT ${WHYOOM_GENERATED}/whyoom.1
    COMMAND ${CMAKE_SOURCE_DIR}/packaging/man_page.sh $<TARGET_FILE:whyoom> ${WHYOOM_GENERATED}/whyoom.1
    DEPENDS whyoom packaging/man_page.sh
    VERBATIM)
  list(APPEND WHYOOM_PACKED whyoom.1)
  install(FILES ${WHYOOM_GENERATED}/whyoom.1.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/man/man1)
endif()

# Compressed, as Debian requires; without a timestamp, so that builds are reproducible.
find_program(WHYOOM_GZIP gzip REQUIRED)
foreach(file ${WHYOOM_PACKED})
  add_custom_command(
    OUTPUT ${WHYOOM_GENERATED}/${file}.gz
    COMMAND ${WHYOOM_GZIP} -9nkf ${WHYOOM_GENERATED}/${file}
    DEPENDS ${WHYOOM_GENERATED}/${file}
    VERBATIM)
  list(APPEND WHYOOM_PRINTED ${WHYOOM_GENERATED}/${file}.gz)
endforeach()
add_custom_target(whyoom_printed ALL DEPENDS ${WHYOOM_PRINTED})

install(TARGETS whyoom RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES integrations/completions/whyoom.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME whyoom)
if(WHYOOM_STATIC)  # the licences of linked libraries must be distributed, too
  foreach(part ${WHYOOM_STATIC_PARTS})
    install(FILES /usr/share/doc/${part}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/whyoom/licenses RENAME ${part} OPTIONAL)
  endforeach()
endif()
install(FILES docs/report.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/whyoom)
install(FILES ${WHYOOM_SKILL} DESTINATION ${CMAKE_INSTALL_DATADIR}/whyoom/skills/whyoom)  # the folder is named after the skill
if(SKBUILD)
  install(FILES integrations/completions/_whyoom DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
else()
  install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES packaging/copyright ${WHYOOM_GENERATED}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES rules/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/rules)
  # zsh reads site-functions; for /usr on Debian it reads vendor-completions.
  install(CODE "
    set(folder site-functions)
    if(CMAKE_INSTALL_PREFIX MATCHES \"/usr/?$\" AND EXISTS /etc/debian_version)
      set(folder vendor-completions)
    endif()
    file(INSTALL \"${CMAKE_SOURCE_DIR}/integrations/completions/_whyoom\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\")")
endif()
