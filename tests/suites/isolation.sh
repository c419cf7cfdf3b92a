# make check-isolation: who gets at what is not his.  A hostile skel and hostile clients make every attempt of their tables on rigs of
# root and of nobody, on both front ends, and print a row each; the other programs hold one way in each.
. "$(dirname "$0")/common.sh"
for name in test_escape test_hostile_client bug_vtcm_shared bug_machine_page bug_uri_symbol bug_dsp_stays_down bug_rig_folders \
    test_descriptors test_driver_limits test_front_users test_logs; do
    echo "isolation $name $build/tests/$name"
done
